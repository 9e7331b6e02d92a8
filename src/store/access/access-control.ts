import { type Bytes, fromBase64, latin1, toBase64, toHex } from '../../kernel/bytes.js'
import { hmacSha256, sha256Bytes } from '../../kernel/digest.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { createRandom, hexId, type Random } from '../../kernel/random.js'
import { refusedRule, replyError, userNotRemovable } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import { applyRules, joinedRules } from './acl-rules.js'
import type { Permissible } from './categories.js'
import { type Permissions, RefusedRule, type RuleContext } from './permissions.js'
import { AclUser, type User } from './user.js'

const standard: User = {
  name: 'default',
  unrestricted: true,
  mayRun: () => true,
  denial: () => undefined,
}

/** User with read-only permissions: `+@read -@dangerous`, and PING and ECHO. [store.md 6.2] */
const readOnly: User = {
  name: 'default_ro',
  unrestricted: false,
  mayRun: (command) => readOnlyMayRun(command),
  denial: (command) => (readOnlyMayRun(command) ? undefined : { of: 'command' }),
}

export function readOnlyMayRun({ name, flags }: Pick<Permissible, 'name' | 'flags'>): boolean {
  if (name === 'PING' || name === 'ECHO') return true
  return flags.includes('read') && !flags.includes('dangerous') && !flags.includes('scripting')
}

export interface Tokens {
  /** Token of the built-in user `default`, which has all permissions. [store.md 6.1] */
  readonly standard: string
  /** Token of the built-in user `default_ro`, which has read-only permissions. [store.md 6.2] */
  readonly readOnly: string
}

/** User as ACL GETUSER and ACL LIST show it. */
export interface UserDescription {
  readonly name: string
  readonly flags: readonly string[]
  readonly passwords: readonly string[]
  readonly commands: string
  readonly keys: readonly string[]
  readonly channels: readonly string[]
  readonly selectors: readonly Permissions[]
}

/** Prefix of every token, as in tokens of the service. */
const tokenHead = latin1('\x01\x87')
const secretLength = 16
const shortestPassword = 8

/** Users and tokens as JSON. */
export interface AccessDump {
  /** Tokens of `default` and `default_ro`. */
  readonly tokens: Tokens
  /** Key that signs the tokens of users. */
  readonly key: PortableString
  /** Users that ACL SETUSER created. ACL SETUSER with the same `rules` creates the same user again. */
  readonly users: readonly { readonly name: PortableString; readonly rules: readonly PortableString[] }[]
}

export class AccessControl {
  readonly #random: Random
  /** Signs the tokens of GENTOKEN, so that this store recognizes and rejects tokens of other stores. */
  #key: Bytes
  #tokens: Tokens
  #users = new Map<string, AclUser>()
  #holders = new Map<string, AclUser>()
  #listeners: (() => void)[] = []

  constructor(tokens: Tokens, random: Random = createRandom('acl')) {
    this.#tokens = tokens
    this.#random = random
    this.#key = latin1(hexId(random, 64))
  }

  get tokens(): Tokens {
    return this.#tokens
  }

  get standardUser(): User {
    return standard
  }

  userNamed(name: string): User | undefined {
    return [standard, readOnly].find((user) => user.name === name) ?? this.#users.get(name)
  }

  /** Returns the user of a token; `undefined` if the token is unknown or revoked, or the user is disabled. */
  userOf(token: string): User | undefined {
    if (token === this.#tokens.standard) return standard
    if (token === this.#tokens.readOnly) return readOnly
    return this.holderOf(token)
  }

  /** Returns the user with this name if the password or token is correct. */
  userWith(name: string, password: string): User | undefined {
    const user = this.#users.get(name)
    if (user?.enabled && user.accepts(password as Bytes)) return user
    const holder = this.userOf(password)
    return holder?.name === name ? holder : undefined
  }

  /** Returns the user to which ACL SETUSER assigned this token. Returns `undefined` if the user is disabled. */
  holderOf(token: string): User | undefined {
    const holder = this.#holders.get(token)
    return holder?.enabled ? holder : undefined
  }

  /** Replaces the tokens of both built-in users. The old tokens are revoked. */
  replaceTokens(tokens: Tokens): void {
    this.#tokens = tokens
    this.#changed()
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  // ---- users ----------------------------------------------------------------------------------------------------

  /** Applies rules to a user, and creates a missing user. */
  setUser(name: Bytes, rules: readonly Bytes[], rights: Pick<RuleContext, 'dialect' | 'hasCommand'>): void {
    if (/[ \0]/.test(name)) throw replyError('userName')
    if (isBuiltIn(name)) throw refusedRule(rules[0] ?? name, `The '${name}' user cannot be changed`)
    const user = this.#users.get(name) ?? new AclUser(name)
    const context: RuleContext = { ...rights, isToken: (user, token) => this.#isToken(user, token) }
    applyRules(rights.dialect === 'redis' ? wholeRules(rules) : rules, user, context, refusedRule)
    this.#users.set(name, user)
    this.#changed()
  }

  /** Returns the number of key and channel patterns of a user. */
  patternsOf(name: Bytes): number {
    return this.#users.get(name)?.patterns ?? 0
  }

  /** Deletes users and returns how many existed. Built-in users cannot be deleted. */
  deleteUsers(names: readonly Bytes[]): number {
    const builtIn = names.find(isBuiltIn)
    if (builtIn !== undefined) throw userNotRemovable(builtIn)
    const deleted = names.filter((name) => this.#users.delete(name)).length
    if (deleted > 0) this.#changed()
    return deleted
  }

  /** Returns all users: built-in ones first, then by name. */
  describe(): UserDescription[] {
    const described = [...this.#users.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(describeUser)
    return [...builtIn(this.#tokens), ...described]
  }

  dump(): AccessDump {
    return {
      tokens: this.#tokens,
      key: portableString(this.#key),
      users: [...this.#users.values()].map(({ name, rules }) => ({
        name: portableString(name),
        rules: rules.map(portableString),
      })),
    }
  }

  load({ tokens, key, users }: AccessDump, hasCommand: (name: string) => boolean): void {
    this.#tokens = tokens
    this.#key = bytesOf(key)
    this.#users = new Map()
    // Accept all rules of redis-server, because the dump may come from a sandbox that accepted more rules than this
    // one.
    const rights = { dialect: 'redis', hasCommand } as const
    for (const { name, rules } of users) this.setUser(bytesOf(name), rules.map(bytesOf), rights)
    this.#changed()
  }

  // ---- tokens ---------------------------------------------------------------------------------------------------

  /**
   * Implements ACL GENTOKEN. The user need not exist yet. The same user and password always give the same token.
   * Without a password, the token is random.
   */
  generateToken(user: Bytes, password: Bytes | undefined): string {
    if (password === undefined) return this.#tokenOf(user, latin1(this.#randomBytes(secretLength)))
    if (password.length < shortestPassword) throw replyError('weakPassword')
    return this.#tokenOf(user, this.#secretOf(user, password))
  }

  /**
   * Returns the REST token of a user.
   * @param password the password that was passed to GENTOKEN, the token that GENTOKEN returned, or the user's own
   * password
   */
  tokenFor(name: Bytes, password: Bytes): string | undefined {
    if (name === standard.name) return password === this.#tokens.standard ? password : undefined
    if (name === readOnly.name) return password === this.#tokens.readOnly ? password : undefined
    const user = this.#users.get(name)
    if (user === undefined) return undefined
    const candidates = [password, this.#tokenOf(name, this.#secretOf(name, password))]
    const held = candidates.find((token) => this.#holders.get(token) === user)
    if (held !== undefined || !user.accepts(password)) return held
    return this.#restToken(user, user.hasNoPassword ? '' : hashOf(password))
  }

  randomHex(digits: number): string {
    return hexId(this.#random, digits)
  }

  #secretOf(user: Bytes, password: Bytes): Bytes {
    return hmacSha256(this.#key, latin1(`password\0${user}\0${password}`)).slice(0, secretLength) as Bytes
  }

  /**
   * Returns the REST token of a user whose password is not a token of GENTOKEN. The token is derived from the hash of
   * the password, because the store keeps only the hash.
   */
  #restToken(user: AclUser, hash: string): string {
    return this.#tokenOf(
      user.name,
      hmacSha256(this.#key, latin1(`hash\0${user.name}\0${hash}`)).slice(0, secretLength) as Bytes,
    )
  }

  #tokenOf(user: Bytes, secret: Bytes): string {
    return toBase64(latin1(tokenHead + secret + this.#seal(user, secret)))
  }

  #seal(user: Bytes, secret: Bytes): Bytes {
    return hmacSha256(this.#key, latin1(`token\0${user}\0${secret}`))
  }

  #isToken(user: Bytes, token: string): boolean {
    const bytes = fromBase64(token)
    if (bytes === undefined || !bytes.startsWith(tokenHead)) return false
    const secret = bytes.slice(tokenHead.length, tokenHead.length + secretLength) as Bytes
    return token === this.#tokenOf(user, secret)
  }

  #randomBytes(count: number): string {
    return String.fromCharCode(...Array.from({ length: count }, () => this.#random.int(256)))
  }

  #changed(): void {
    this.#holders = new Map()
    for (const user of this.#users.values()) {
      for (const [hash, token] of user.passwords) this.#holders.set(token ?? this.#restToken(user, hash), user)
      if (user.hasNoPassword) this.#holders.set(this.#restToken(user, ''), user)
    }
    for (const listener of this.#listeners) listener()
  }
}

function isBuiltIn(name: string): boolean {
  return name === standard.name || name === readOnly.name
}

function builtIn(tokens: Tokens): UserDescription[] {
  const shared = { keys: ['*'], channels: ['*'], selectors: [] }
  return [
    {
      ...shared,
      name: standard.name,
      flags: ['on', 'allkeys', 'allchannels', 'allcommands'],
      passwords: [hashOf(tokens.standard)],
      commands: '+@all',
    },
    {
      ...shared,
      name: readOnly.name,
      flags: ['on', 'allkeys', 'allchannels'],
      passwords: [hashOf(tokens.readOnly)],
      commands: '-@all +@read -@dangerous +ping +echo',
    },
  ]
}

function hashOf(token: string): string {
  return toHex(sha256Bytes(latin1(token)))
}

function describeUser(user: AclUser): UserDescription {
  const { name, flags, passwords, permissions, selectors } = user
  const { commandText: commands, keyPatterns: keys, channelPatterns: channels } = permissions
  return { name, flags, passwords: [...passwords.keys()], commands, keys, channels, selectors }
}

/** @throws ReplyError when a selector is not closed */
function wholeRules(rules: readonly Bytes[]): readonly Bytes[] {
  try {
    return joinedRules(rules)
  } catch (error) {
    throw error instanceof RefusedRule ? new ReplyError(`ERR ${error.message}`) : error
  }
}
