// Runs the compiler service as a child process and collects what it says.

#include "compiler.h"
#include "settings.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char ** environ;

namespace softmetal {

namespace {

[[noreturn]] void fail(const std::string & what, int error) {
    throw std::runtime_error(what + ": " + strerror(error));
}

class File {
  public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() { close(); }
    File(const File &)             = delete;
    File & operator=(const File &) = delete;

    int descriptor() const { return descriptor_; }

    void close() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
            descriptor_ = -1;
        }
    }

  private:
    int descriptor_;
};

void make_folders(const std::string & path) {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string folder = path.substr(0, end);
        if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
            fail("cannot make the folder " + folder, errno);
        }
        if (end == std::string::npos) {
            return;
        }
    }
}

// The source as a file for the service to read, gone when this ends.
class SourceFile {
  public:
    SourceFile(const std::string & folder, const std::string & source) : path_(folder + "/source-XXXXXX.metal") {
        File file(mkostemps(path_.data(), int(strlen(".metal")), O_CLOEXEC));
        if (file.descriptor() < 0) {
            fail("cannot write " + path_, errno);
        }
        for (size_t done = 0; done < source.size();) {
            const ssize_t n = write(file.descriptor(), source.data() + done, source.size() - done);
            if (n < 0 && errno != EINTR) {
                const int error = errno;
                unlink(path_.c_str());
                fail("cannot write " + path_, error);
            }
            done += n > 0 ? size_t(n) : 0;
        }
    }
    ~SourceFile() { unlink(path_.c_str()); }
    SourceFile(const SourceFile &)             = delete;
    SourceFile & operator=(const SourceFile &) = delete;

    const std::string & path() const { return path_; }

  private:
    std::string path_;
};

std::string read_all(int descriptor) {
    std::string text;
    char        part[4096];
    for (;;) {
        const ssize_t n = read(descriptor, part, sizeof part);
        if (n > 0) {
            text.append(part, size_t(n));
        } else if (n == 0 || errno != EINTR) {
            return text;
        }
    }
}

struct Outcome {
    bool        ok;
    std::string errors; // the command's standard error
};

Outcome run(const std::vector<std::string> & command) {
    std::vector<char *> words;
    for (const std::string & word : command) {
        words.push_back(const_cast<char *>(word.c_str()));
    }
    words.push_back(nullptr);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail("cannot make a pipe", errno);
    }
    File out(ends[0]);
    File in(ends[1]);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, in.descriptor(), STDERR_FILENO);
    // The calling thread may block signals; the service must not inherit that.
    posix_spawnattr_t attributes;
    sigset_t          none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

    pid_t     child;
    const int error = posix_spawnp(&child, words[0], &files, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        fail("cannot run the kernel compiler " + command[0], error);
    }
    in.close();

    Outcome outcome{false, read_all(out.descriptor())};
    int     status = 0;
    pid_t   waited;
    while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    // A host that ignores SIGCHLD takes the status away; then the result has to speak for itself.
    outcome.ok = waited < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return outcome;
}

} // namespace

bool compiler_available() {
    return !compiler_command().empty();
}

void compile(const std::string & source, const std::vector<Macro> & macros, const std::string & folder,
             const std::vector<std::string> & options) {
    make_folders(folder);
    const SourceFile file(folder, source);

    std::vector<std::string> command = compiler_command();
    command.insert(command.end(), {"build", file.path(), "--out", folder});
    for (const Macro & macro : macros) {
        command.insert(command.end(), {"-D", macro.name + "=" + macro.value});
    }
    command.insert(command.end(), options.begin(), options.end());

    const Outcome outcome = run(command);
    if (!outcome.ok) {
        throw std::runtime_error(outcome.errors.empty() ? command[0] + " failed and did not say why" : outcome.errors);
    }
}

} // namespace softmetal
