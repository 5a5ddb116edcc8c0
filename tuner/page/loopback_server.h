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
    /// Answers the path of a GET request, without its query. An exception gives status 500.
    std::function<HttpAnswer(const std::string& path)> answer;
    /// Called a few times per second. Whenever the text changes, it is sent to every browser that listens.
    std::function<std::string()> state;
    std::size_t most_connections = 256;                             ///< further ones are closed at once
    std::chrono::milliseconds patience = std::chrono::seconds(10);  ///< for a request, and for an answer to be read
};

/// Listens on 127.0.0.1 alone, so that no other machine can connect. Answers only GET requests whose host is this
/// address or `localhost`, so that a page of another site cannot read it under its own name (DNS rebinding). `/events`
/// is a stream of server-sent events, one for each new state. One thread serves all connections.
class LoopbackServer {
public:
    /// Port 0 takes a free one. Throws std::runtime_error if the port cannot be used.
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
