/**
 * Text of each network error in the log. Because the texts of the real service are not public, this package chose these
 * texts. [queue.md 4.3]
 */
export const networkErrors = {
  reset: 'read: connection reset by peer',
  refused: 'dial tcp: connect: connection refused',
  unresolved: 'dial tcp: lookup: no such host',
  certificate: 'tls: failed to verify certificate',
  closed: 'unexpected EOF',
} as const
