// Runs the compiler service as a child process and collects what it says.

#include "compiler.h"
#include "settings.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <spawn.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char ** environ;

namespace softmetal {

namespace {

[[noreturn]] void fail(const std::string & what, int error) {
    throw std::runtime_error(what + ": " + strerror(error));
}

// A file without a name, which is gone when the last who has it open is gone: a crash leaves nothing.
class MemoryFile {
  public:
    MemoryFile() {
        const int made = memfd_create("softmetal", MFD_CLOEXEC);
        // Not a number that the child's standard streams will have, should the host have closed its own.
        descriptor_ = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (descriptor_ < 0) {
            fail("cannot make a file in memory", errno);
        }
        close(made);
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile &)             = delete;
    MemoryFile & operator=(const MemoryFile &) = delete;

    int descriptor() const { return descriptor_; }

    void write(const std::string & text) {
        for (size_t done = 0; done < text.size();) {
            const ssize_t n = pwrite(descriptor_, text.data() + done, text.size() - done, off_t(done));
            if (n < 0 && errno != EINTR) {
                fail("cannot write a file in memory", errno);
            }
            done += n > 0 ? size_t(n) : 0;
        }
    }

    std::string read() const {
        std::string text;
        char        part[4096];
        for (;;) {
            const ssize_t n = pread(descriptor_, part, sizeof part, off_t(text.size()));
            if (n > 0) {
                text.append(part, size_t(n));
            } else if (n == 0 || errno != EINTR) {
                return text;
            }
        }
    }

  private:
    int descriptor_;
};

// Runs the service with this standard input, and returns the one line that it prints.
std::string run(const std::vector<std::string> & command, const std::string & input) {
    std::vector<char *> words;
    for (const std::string & word : command) {
        words.push_back(const_cast<char *>(word.c_str()));
    }
    words.push_back(nullptr);

    MemoryFile in, out, errors;
    in.write(input);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.descriptor(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors.descriptor(), STDERR_FILENO);
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
    int   status = 0;
    pid_t waited;
    while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    // A host that ignores SIGCHLD takes the status away; then the answer has to speak for itself.
    const bool  ok     = waited < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
    std::string answer = out.read();
    answer.erase(answer.find_last_not_of('\n') + 1);
    if (!ok || answer.empty()) {
        const std::string said = errors.read();
        throw std::runtime_error(said.empty() ? command[0] + " failed and did not say why" : said);
    }
    return answer;
}

} // namespace

bool compiler_available() {
    return !compiler_command().empty();
}

std::string compiler_version() {
    static std::mutex                                         mutex;
    static std::map<std::vector<std::string>, std::string> & versions = *new std::map<std::vector<std::string>, std::string>;

    std::vector<std::string>    command = compiler_command();
    std::lock_guard<std::mutex> lock(mutex);
    std::string &               version = versions[command];
    if (version.empty()) {
        command.push_back("version");
        version = run(command, "");
    }
    return version;
}

std::string compile(const std::string & source, const std::vector<Macro> & macros, const std::string & cache,
                    const std::vector<std::string> & options) {
    std::vector<std::string> command = compiler_command();
    command.insert(command.end(), {"build", "/dev/stdin", "--cache", cache, "--name", "program_source"});
    for (const Macro & macro : macros) {
        command.insert(command.end(), {"-D", macro.name + "=" + macro.value});
    }
    command.insert(command.end(), options.begin(), options.end());
    return run(command, source);
}

} // namespace softmetal
