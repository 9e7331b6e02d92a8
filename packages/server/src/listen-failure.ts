/** Error of a server that cannot listen at an address. The message names the option to change. */
export class ListenFailure extends Error {
  readonly code: string

  constructor(code: string, sentence: string, cause: unknown) {
    super(sentence, { cause })
    this.name = 'ListenFailure'
    this.code = code
  }
}

/**
 * Converts an error of `listen()` to an error that names the option to change. An error with an unknown cause is
 * returned unchanged.
 */
export function listenFailure(error: unknown, host: string, port: number, option = 'port (--port)'): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  const notHere = `host (--host): ${host} is not an address of this machine. Use an address of this machine, such as 127.0.0.1 or 0.0.0.0.`
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `${option}: ${port} is already in use on ${host}, perhaps by another server. Stop that server, or use another port; 0 selects a free one.`,
    EACCES: `${option}: this user must not open port ${port} of ${host}. Use a port above 1023.`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
    EAI_AGAIN: notHere,
    ERR_SOCKET_BAD_PORT: `${option} must be a number from 0 to 65535 (got ${port}). Use 0 for any free port.`,
  }
  const sentence = sentences[code]
  return sentence === undefined ? error : new ListenFailure(code, sentence, error)
}
