#include "tuner/page/loopback_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <deque>
#include <optional>
#include <set>
#include <stdexcept>

namespace smemtune {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using HttpRequest = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr std::uint32_t most_header_bytes = 16384;
constexpr auto poll_period = std::chrono::milliseconds(250);
constexpr int polls_per_heartbeat = 40;  // a heartbeat finds browsers that are gone, because writing to them fails

}  // namespace

// The state that all connections of a server share.
struct LoopbackState {
    LoopbackState(LoopbackOptions given, unsigned short wanted)
        : options(std::move(given)), acceptor(io), timer(io), signals(io, SIGINT, SIGTERM) {
        const Tcp::endpoint endpoint(asio::ip::address_v4::loopback(), wanted);
        acceptor.open(endpoint.protocol());
        acceptor.set_option(asio::socket_base::reuse_address(true));
        acceptor.bind(endpoint);
        acceptor.listen();
        port = acceptor.local_endpoint().port();
    }

    LoopbackOptions options;
    asio::io_context io{1};
    Tcp::acceptor acceptor;
    asio::steady_timer timer;
    asio::signal_set signals;
    unsigned short port = 0;
    std::string state;
    int polls = 0;
    std::size_t connections = 0;
    bool accepting = false;

    class Listener {
    public:
        virtual ~Listener() = default;
        virtual void send(const std::string& text) = 0;
    };
    std::set<std::shared_ptr<Listener>> listeners;
};

namespace {

std::string event_of(const std::string& state) { return "data: " + state + "\n\n"; }

// One connection. The object lives while one of its asynchronous operations is pending, or while it is in `listeners`.
class Session : public LoopbackState::Listener, public std::enable_shared_from_this<Session> {
public:
    Session(LoopbackState& shared, Tcp::socket socket) : shared_(shared), stream_(std::move(socket)) {
        ++shared_.connections;
    }
    ~Session() override { --shared_.connections; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void read() {
        parser_.emplace();
        parser_->header_limit(most_header_bytes);
        parser_->body_limit(0);
        stream_.expires_after(shared_.options.patience);
        http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
            self->finish_reading(error);
        });
    }

    void send(const std::string& text) override {
        waiting_.push_back(text);
        if (waiting_.size() == 1) write_event();
    }

private:
    void finish_reading(beast::error_code error) {
        if (error == http::error::end_of_stream || error == beast::error::timeout) return close();
        if (error) {
            // The request is not HTTP, or is too long. The rest of it is ignored.
            return respond({.status = 400, .body = "not a GET request that this server understands\n"}, false);
        }
        const auto& request = parser_->get();
        const auto answer = answer_to(request);
        if (!answer) return listen();
        respond(*answer, request.keep_alive());
    }

    // Returns the answer to a request. Returns nothing if the browser asks for the event stream.
    std::optional<HttpAnswer> answer_to(const HttpRequest& request) {
        const auto host = std::string(request[http::field::host]);
        const auto port = ":" + std::to_string(shared_.port);
        if (host != "127.0.0.1" + port && host != "localhost" + port) {
            return HttpAnswer{.status = 403, .body = "open http://127.0.0.1" + port + "\n"};
        }
        if (request.method() == http::verb::head) return HttpAnswer{.status = 405};  // an answer to HEAD has no body
        if (request.method() != http::verb::get) return HttpAnswer{.status = 405, .body = "only GET is answered\n"};
        const auto target = std::string(request.target());
        const auto path = target.substr(0, target.find('?'));
        if (path == "/events") return std::nullopt;
        try {
            return shared_.options.answer(path);
        } catch (const std::exception& error) {
            return HttpAnswer{.status = 500, .body = std::string(error.what()) + "\n"};
        }
    }

    void respond(const HttpAnswer& answer, bool keep_alive) {
        response_ = Response(static_cast<http::status>(answer.status), 11);
        response_.set(http::field::content_type, answer.type);
        response_.set(http::field::cache_control, "no-store");
        response_.set("X-Content-Type-Options", "nosniff");
        response_.set("Cross-Origin-Resource-Policy", "same-origin");
        response_.set("X-Frame-Options", "DENY");
        if (answer.status == 405) response_.set(http::field::allow, "GET");
        response_.body() = answer.body;
        response_.keep_alive(keep_alive);
        response_.prepare_payload();
        stream_.expires_after(shared_.options.patience);
        http::async_write(stream_, response_,
                          [self = shared_from_this(), keep_alive](beast::error_code error, std::size_t) {
                              if (error || !keep_alive) return self->close();
                              self->read();
                          });
    }

    void listen() {
        shared_.listeners.insert(shared_from_this());
        send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n"
            "X-Content-Type-Options: nosniff\r\n\r\n" +
            event_of(shared_.state));
    }

    void write_event() {
        stream_.expires_after(shared_.options.patience);
        asio::async_write(stream_, asio::buffer(waiting_.front()),
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                              if (error) {
                                  self->shared_.listeners.erase(self);
                                  return self->close();
                              }
                              self->waiting_.pop_front();
                              if (!self->waiting_.empty()) return self->write_event();
                              self->stream_.expires_never();
                          });
    }

    void close() {
        beast::error_code ignored;
        stream_.socket().shutdown(Tcp::socket::shutdown_both, ignored);
        stream_.close();
    }

    LoopbackState& shared_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{most_header_bytes};
    std::optional<http::request_parser<http::empty_body>> parser_;
    Response response_;
    std::deque<std::string> waiting_;  // events to send; the first one is being written
};

void accept_next(LoopbackState& shared) {
    shared.accepting = true;
    shared.acceptor.async_accept([&shared](beast::error_code error, Tcp::socket socket) {
        shared.accepting = false;
        if (error) return;  // For example, no file descriptor is left. poll_state() tries again later.
        if (shared.connections < shared.options.most_connections) {
            std::make_shared<Session>(shared, std::move(socket))->read();
        }
        accept_next(shared);
    });
}

void poll_state(LoopbackState& shared) {
    shared.timer.expires_after(poll_period);
    shared.timer.async_wait([&shared](beast::error_code error) {
        if (error) return;
        if (!shared.accepting) accept_next(shared);
        auto state = shared.options.state();
        const bool changed = state != shared.state;
        const bool heartbeat = ++shared.polls % polls_per_heartbeat == 0;
        if (changed) shared.state = std::move(state);
        // The loop runs over a copy, because a failed write removes its listener from the set.
        const auto listeners = shared.listeners;
        for (const auto& listener : listeners) {
            if (changed)
                listener->send(event_of(shared.state));
            else if (heartbeat)
                listener->send(": still here\n\n");
        }
        poll_state(shared);
    });
}

}  // namespace

struct LoopbackServer::State : LoopbackState {
    using LoopbackState::LoopbackState;
};

LoopbackServer::LoopbackServer(unsigned short port, LoopbackOptions options) {
    try {
        state_ = std::make_shared<State>(std::move(options), port);
    } catch (const boost::system::system_error& error) {
        throw std::runtime_error("port " + std::to_string(port) + " of 127.0.0.1 cannot be used (" +
                                 error.code().message() + "); choose another one, or 0 for a free one");
    }
    state_->state = state_->options.state();
    accept_next(*state_);
    poll_state(*state_);
    state_->signals.async_wait([&io = state_->io](beast::error_code error, int) {
        if (!error) io.stop();
    });
}

// Sessions use the shared state until they are destroyed. `listeners` owns sessions, so it is cleared while the state
// still exists.
LoopbackServer::~LoopbackServer() { state_->listeners.clear(); }

unsigned short LoopbackServer::port() const { return state_->port; }

void LoopbackServer::run() { state_->io.run(); }

void LoopbackServer::stop() { state_->io.stop(); }

}  // namespace smemtune
