/** A server that cannot listen where it was told to: a sentence with what to give instead. */
export class ListenFailure extends Error {
  readonly code: string

  constructor(code: string, sentence: string, cause: unknown) {
    super(sentence, { cause })
    this.name = 'ListenFailure'
    this.code = code
  }
}

/** What went wrong when a server was to listen, as a sentence where it is known. */
export function listenFailure(error: unknown, host: string, port: number, option = 'port (--port)'): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  const notHere = `${host} is not an address of this machine: give one with host (--host), such as 127.0.0.1 or 0.0.0.0.`
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} of ${host} is taken, perhaps by a server that was started before: end that one, or give another ${option}, 0 for a free one.`,
    EACCES: `Port ${port} of ${host} may not be opened by this user: give one above 1023 as ${option}.`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
    EAI_AGAIN: notHere,
    ERR_SOCKET_BAD_PORT: `${port} is not a port: give a number from 0 to 65535 as ${option}, 0 for a free one.`,
  }
  const sentence = sentences[code]
  return sentence === undefined ? error : new ListenFailure(code, sentence, error)
}
