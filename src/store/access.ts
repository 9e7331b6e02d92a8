import type { Bytes } from '../kernel/bytes.js'
import type { Command } from './command.js'

/** Somebody with a token. The two built-in users are `default` and `default_ro`. [store.md 6.1] */
export interface User {
  readonly name: string
  /** Whether every command and key is allowed, so that no check is needed. */
  readonly unrestricted: boolean
  mayRun(command: Command): boolean
  mayUseKey(key: Bytes): boolean
  mayUseChannel(channel: Bytes): boolean
}

const standard: User = {
  name: 'default',
  unrestricted: true,
  mayRun: () => true,
  mayUseKey: () => true,
  mayUseChannel: () => true,
}

/** `+@read -@dangerous`, and PING and ECHO. [store.md 6.2] */
const readOnly: User = {
  name: 'default_ro',
  unrestricted: false,
  mayRun: (command) => readOnlyMayRun(command),
  mayUseKey: () => true,
  mayUseChannel: () => true,
}

export function readOnlyMayRun(command: Pick<Command, 'name' | 'flags'>): boolean {
  if (command.name === 'PING' || command.name === 'ECHO') return true
  return command.flags.includes('read') && !command.flags.includes('dangerous') && !command.flags.includes('scripting')
}

export interface Tokens {
  readonly standard: string
  readonly readOnly: string
}

/** Which token belongs to whom. */
export class Access {
  #tokens: Tokens

  constructor(tokens: Tokens) {
    this.#tokens = tokens
  }

  get tokens(): Tokens {
    return this.#tokens
  }

  get standardUser(): User {
    return standard
  }

  /** The user of a token; `undefined` when it is unknown or revoked. */
  userOf(token: string): User | undefined {
    if (token === this.#tokens.standard) return standard
    if (token === this.#tokens.readOnly) return readOnly
    return undefined
  }

  /** Resetting the password revokes both built-in tokens. */
  replaceTokens(tokens: Tokens): void {
    this.#tokens = tokens
  }
}
