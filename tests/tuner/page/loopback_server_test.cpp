#include "tuner/page/loopback_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace smemtune {

namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Runs a server on a separate thread.
class ServerThread {
public:
    explicit ServerThread(LoopbackOptions options)
        : server_(0, std::move(options)), thread_([this] { server_.run(); }) {}
    ~ServerThread() {
        server_.stop();
        thread_.join();
    }
    ServerThread(const ServerThread&) = delete;
    ServerThread& operator=(const ServerThread&) = delete;

    [[nodiscard]] unsigned short port() const { return server_.port(); }

private:
    LoopbackServer server_;
    std::thread thread_;
};

LoopbackOptions echo() {
    return {.answer =
                [](const std::string& path) {
                    if (path == "/throws") throw std::runtime_error("damaged");
                    return HttpAnswer{.body = "path " + path};
                },
            .state = [] { return std::string("1"); },
            .patience = std::chrono::minutes(10)};
}

class Client {
public:
    explicit Client(unsigned short port) : socket_(io_) { socket_.connect({asio::ip::address_v4::loopback(), port}); }
    void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
    // Returns everything that the server sends before it closes the connection.
    std::string rest() {
        boost::system::error_code closed;
        asio::read(socket_, buffer_, closed);
        return {std::istreambuf_iterator<char>(&buffer_), {}};
    }
    std::string until(const std::string& end) {
        const auto size = asio::read_until(socket_, buffer_, end);
        std::string text(size, '\0');
        std::istream(&buffer_).read(text.data(), static_cast<std::streamsize>(size));
        return text;
    }

private:
    asio::io_context io_;
    asio::ip::tcp::socket socket_;
    asio::streambuf buffer_;
};

std::string request(const ServerThread& server, const std::string& method, const std::string& target,
                    const std::string& host = "127.0.0.1") {
    return method + " " + target + " HTTP/1.1\r\nHost: " + host + ":" + std::to_string(server.port()) +
           "\r\nConnection: close\r\n\r\n";
}

std::string ask(const ServerThread& server, const std::string& text) {
    Client client(server.port());
    client.send(text);
    return client.rest();
}

TEST(LoopbackServer, AnswersGetUnderItsOwnNamesOnly) {
    const ServerThread server(echo());
    EXPECT_THAT(ask(server, request(server, "GET", "/a/b?c")),
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\r\n\r\npath /a/b")));
    EXPECT_THAT(ask(server, request(server, "GET", "/", "localhost")), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(ask(server, request(server, "GET", "/", "evil.example")), StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(ask(server, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(ask(server, request(server, "POST", "/")), StartsWith("HTTP/1.1 405"));
    EXPECT_THAT(ask(server, request(server, "GET", "/throws")),
                AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("damaged")));
    EXPECT_THAT(ask(server, "no request\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(ask(server, "GET / HTTP/1.1\r\nHost: " + std::string(20000, 'x') + "\r\n\r\n"),
                StartsWith("HTTP/1.1 400"));
}

TEST(LoopbackServer, AnAnswerToHeadHasNoBody) {
    const ServerThread server(echo());
    const auto head = "HEAD / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n\r\n";
    const auto both = ask(server, head + request(server, "GET", "/next"));
    EXPECT_THAT(both, StartsWith("HTTP/1.1 405"));
    EXPECT_THAT(both.substr(both.find("\r\n\r\n") + 4), StartsWith("HTTP/1.1 200"));
}

TEST(LoopbackServer, SendsEachNewState) {
    std::atomic<int> state = 1;
    auto options = echo();
    options.state = [&] { return std::to_string(state); };
    const ServerThread server(std::move(options));
    Client client(server.port());
    client.send(request(server, "GET", "/events"));
    EXPECT_THAT(client.until("data: 1\n\n"), HasSubstr("Content-Type: text/event-stream"));
    state = 2;
    EXPECT_EQ(client.until("\n\n"), "data: 2\n\n");
}

TEST(LoopbackServer, ConnectionsBeyondTheBoundAreClosed) {
    auto options = echo();
    options.most_connections = 2;
    const ServerThread server(std::move(options));
    const Client first(server.port());
    Client second(server.port());
    Client third(server.port());
    EXPECT_EQ(third.rest(), "");
    second.send(request(server, "GET", "/"));
    EXPECT_THAT(second.rest(), StartsWith("HTTP/1.1 200"));
}

TEST(LoopbackServer, AnIdleConnectionIsClosed) {
    auto options = echo();
    options.patience = std::chrono::milliseconds(20);
    const ServerThread server(std::move(options));
    Client idle(server.port());
    EXPECT_EQ(idle.rest(), "");
    // On a slow machine, the server may close the next connection, too, before its request arrives. The test then sends
    // the request again.
    std::string answer;
    while (answer.empty()) {
        try {
            answer = ask(server, request(server, "GET", "/"));
        } catch (const boost::system::system_error&) {  // the server has closed the connection
        }
    }
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

TEST(LoopbackServer, APortThatIsTakenIsNamed) {
    const ServerThread server(echo());
    try {
        const LoopbackServer second(server.port(), echo());
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("port " + std::to_string(server.port())));
    }
}

}  // namespace

}  // namespace smemtune
