// A small HTTP server for browsers on this machine.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace smemtune {

struct HttpAnswer {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body{};
};

struct LoopbackOptions {
    /// Returns the answer to a GET request. `path` has no query. If the function throws, the status is 500.
    std::function<HttpAnswer(const std::string& path)> answer;
    /// Called a few times per second. Whenever the returned text changes, the server sends it to every browser that
    /// listens to `/events`.
    std::function<std::string()> state;
    std::size_t most_connections = 256;                             ///< the server closes further connections at once
    std::chrono::milliseconds patience = std::chrono::seconds(10);  ///< time limit for a request, and for an answer
};

/// Listens on 127.0.0.1 only, so that no other machine can connect. Answers only GET requests whose host is 127.0.0.1
/// or `localhost`. This prevents DNS rebinding, by which a page of another site could read the answers. `/events` is a
/// stream of server-sent events, one for each new state. One thread serves all connections.
class LoopbackServer {
public:
    /// Port 0 means any free port. Throws std::runtime_error if the port cannot be used.
    LoopbackServer(unsigned short port, LoopbackOptions options);
    ~LoopbackServer();
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;

    [[nodiscard]] unsigned short port() const;
    /// Serves until SIGINT, SIGTERM or stop().
    void run();
    /// May be called from another thread.
    void stop();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace smemtune
