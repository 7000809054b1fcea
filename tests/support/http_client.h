// For tests: Client is a peer of an HTTP server and sends any bytes.
#ifndef RAPIDEYE_TESTS_SUPPORT_HTTP_CLIENT_H_
#define RAPIDEYE_TESTS_SUPPORT_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace rapideye::http {

// Connected to the port of `address` on 127.0.0.1.
class Client {
 public:
  // `from`: its own address, any of 127.0.0.0/8.
  explicit Client(const std::string& address, const char* from = "127.0.0.1") {
    socket_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    inet_pton(AF_INET, from, &own.sin_addr);
    bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof(own));
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    inet_pton(AF_INET, "127.0.0.1", &peer.sin_addr);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&peer), sizeof(peer)) != 0) {
      throw std::runtime_error("cannot connect to " + address);
    }
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Send(const std::string& bytes) const {
    if (send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("cannot send");
    }
  }
  void SendNoMore() const { shutdown(socket_, SHUT_WR); }
  // Waits until an answer begins, of which it takes one byte, or the server closes.
  void AwaitAnswer() const {
    char first = 0;
    recv(socket_, &first, 1, 0);
  }
  // Returns all bytes that come until the server closes.
  std::string ReadAll() const {
    std::string all;
    char piece[4096];
    for (ssize_t got = 0; (got = recv(socket_, piece, sizeof(piece), 0)) > 0;) {
      all.append(piece, static_cast<size_t>(got));
    }
    return all;
  }

 private:
  int socket_ = -1;
};

// Returns the whole answer, headers included.
inline std::string Ask(const std::string& address, const std::string& method,
                       const std::string& path, const char* from = "127.0.0.1") {
  const Client client(address, from);
  client.Send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return client.ReadAll();
}

}  // namespace rapideye::http

#endif  // RAPIDEYE_TESTS_SUPPORT_HTTP_CLIENT_H_
