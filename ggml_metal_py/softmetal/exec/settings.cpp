// The settings of softmetal.h about kernels, with their defaults from the environment.

#include "settings.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <pwd.h>
#include <softmetal.h>
#include <unistd.h>

namespace softmetal {

namespace {

struct Settings {
    std::mutex                 mutex;
    std::vector<std::string>   folders;
    std::optional<std::string> cache_folder;
    std::optional<std::string> compiler;
};

Settings & settings() {
    static Settings * const instance = new Settings; // outlives every thread
    return *instance;
}

std::string environment(const char * name) {
    const char * value = getenv(name);
    return value ? value : "";
}

std::string home_folder() {
    const std::string home = environment("HOME");
    if (!home.empty()) {
        return home;
    }
    const passwd * user = getpwuid(getuid()); // only under the settings' mutex
    return user ? user->pw_dir : ".";
}

std::string default_cache_folder() {
    std::string root = environment("XDG_CACHE_HOME");
    if (root.empty()) {
        root = home_folder() + "/.cache";
    }
    return root + "/softmetal";
}

// Words as in a shell: blanks separate, quotes group, a backslash takes the next character as it is.
std::vector<std::string> shell_words(const std::string & command) {
    std::vector<std::string> words;
    std::string              word;
    bool                     in_word = false;
    char                     quote   = 0;
    for (size_t i = 0; i < command.size(); i++) {
        const char c = command[i];
        if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
            word += command[++i];
            in_word = true;
        } else if (quote) {
            c == quote ? void(quote = 0) : void(word += c);
        } else if (c == '\'' || c == '"') {
            quote   = c;
            in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            if (in_word) {
                words.push_back(std::move(word));
                word.clear();
                in_word = false;
            }
        } else {
            word += c;
            in_word = true;
        }
    }
    if (in_word) {
        words.push_back(std::move(word));
    }
    return words;
}

std::vector<std::string> split(const std::string & text, char separator) {
    std::vector<std::string> parts;
    size_t                   start = 0;
    for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1) {
        parts.push_back(text.substr(start, end - start));
    }
    parts.push_back(text.substr(start));
    return parts;
}

} // namespace

std::string cache_folder() {
    Settings &                  s = settings();
    std::lock_guard<std::mutex> lock(s.mutex);
    return s.cache_folder ? *s.cache_folder : default_cache_folder();
}

std::vector<std::string> kernel_folders() {
    Settings &                  s = settings();
    std::lock_guard<std::mutex> lock(s.mutex);
    return s.folders;
}

std::vector<std::string> compiler_command() {
    Settings &                  s = settings();
    std::lock_guard<std::mutex> lock(s.mutex);
    const std::string           command = s.compiler ? *s.compiler : environment("SOFTMETAL_COMPILER");
    return command.find('\x1f') != std::string::npos ? split(command, '\x1f') : shell_words(command);
}

} // namespace softmetal

void softmetal_add_kernel_folder(const char * path) {
    softmetal::Settings &       s = softmetal::settings();
    std::lock_guard<std::mutex> lock(s.mutex);
    if (std::find(s.folders.begin(), s.folders.end(), path) == s.folders.end()) {
        s.folders.emplace_back(path);
    }
}

void softmetal_set_cache_folder(const char * path) {
    softmetal::Settings &       s = softmetal::settings();
    std::lock_guard<std::mutex> lock(s.mutex);
    s.cache_folder = path;
}

void softmetal_set_compiler(const char * command) {
    softmetal::Settings &       s = softmetal::settings();
    std::lock_guard<std::mutex> lock(s.mutex);
    s.compiler = command ? command : "";
}
