/**
 * Thrown by an exchange instead of an answer: the connection broke. `fetch` rejects as on a real network, a server
 * cuts the socket.
 */
export class ConnectionBroken extends Error {
  constructor(
    readonly code: 'ECONNRESET' | 'ETIMEDOUT' | 'ECONNREFUSED' | 'ENOTFOUND' | 'CERT_HAS_EXPIRED',
    message: string,
  ) {
    super(message)
  }
}
