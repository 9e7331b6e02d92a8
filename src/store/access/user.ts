import { type Bytes, latin1, toHex } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import { type Glob, globOf } from '../../kernel/glob.js'
import type { Work } from '../../kernel/work.js'
import type { KeyUse } from '../command/arguments.js'
import type { User } from './access.js'
import { type Category, categoriesOf, isCategory, type Permissible } from './categories.js'
import { applyRule, RefusedRule, type RuleContext } from './rules.js'

interface KeyRule {
  readonly pattern: Bytes
  readonly use: 'R' | 'W' | 'RW'
  readonly matches: Glob
}

interface ChannelRule {
  readonly pattern: Bytes
  readonly matches: Glob
}

/** `+get`, `-@dangerous`: the last rule that covers a command decides. */
interface CommandRule {
  readonly allow: boolean
  /** Lower case, a category with its `@`. */
  readonly target: string
}

const everything = (): boolean => true

/** A user that ACL SETUSER created. Rules are applied from left to right. [store.md 6.3, redis 7.0] */
export class AclUser implements User {
  readonly unrestricted = false
  enabled = false
  /** Tokens by the hash that ACL GETUSER shows. */
  #tokens = new Map<string, string>()
  #keys: KeyRule[] = []
  #channels: ChannelRule[] = []
  /** What the rules start from. */
  #base = false
  #commands: CommandRule[] = []
  #decisions = new Map<Permissible, boolean>()

  constructor(readonly name: Bytes) {}

  // ---- what it may ----------------------------------------------------------------------------------------------

  mayRun(command: Permissible): boolean {
    let decision = this.#decisions.get(command)
    if (decision === undefined) {
      decision = this.#decide(command)
      this.#decisions.set(command, decision)
    }
    return decision
  }

  mayUseKey(key: Bytes, use: KeyUse, work: Work): boolean {
    work.charge(4 * this.#keys.length)
    return this.#keys.some((rule) => [...use].every((each) => rule.use.includes(each)) && rule.matches(key, work))
  }

  /** A pattern may be subscribed to only as it is written in the rules, unless all channels are allowed. */
  mayUseChannel(channel: Bytes, kind: 'name' | 'pattern', work?: Work): boolean {
    work?.charge(this.#channels.length)
    return this.#channels.some(({ pattern, matches }) =>
      kind === 'name' ? matches(channel, work) : pattern === '*' || pattern === channel,
    )
  }

  get patterns(): number {
    return this.#keys.length + this.#channels.length
  }

  #decide(command: Permissible): boolean {
    const name = command.name.toLowerCase()
    const container = name.split(' ', 1)[0]!
    const own = categoriesOf(command)
    const rule = this.#commands.findLast(({ target }) =>
      target[0] === '@' ? own.has(target.slice(1) as Category) : target === container,
    )
    return rule?.allow ?? this.#base
  }

  // ---- changing it ----------------------------------------------------------------------------------------------

  get tokens(): Iterable<string> {
    return this.#tokens.values()
  }

  /** Applies all of the rules, or none. Throws `RefusedRule` at the first that is wrong, handing it to `refused`. */
  apply(rules: readonly Bytes[], context: RuleContext, refused: (rule: Bytes, reason: string) => Error): void {
    const changed = this.copy()
    for (const rule of rules) {
      try {
        applyRule(rule, changed, context)
      } catch (error) {
        throw error instanceof RefusedRule ? refused(rule, error.message) : error
      }
    }
    this.#take(changed)
  }

  allowKeys(pattern: Bytes, use: KeyRule['use']): void {
    if (this.#keys.some((rule) => rule.pattern === '*' && rule.use === 'RW')) throw new RefusedRule(patternAfterAll)
    if (pattern === '*' && use === 'RW') this.#keys = []
    if (this.#keys.some((rule) => rule.pattern === pattern && rule.use === use)) return
    this.#keys.push({ pattern, use, matches: pattern === '*' ? everything : globOf(pattern) })
  }

  resetKeys(): void {
    this.#keys = []
  }

  allowAllKeys(): void {
    this.resetKeys()
    this.allowKeys(latin1('*'), 'RW')
  }

  allowChannels(pattern: Bytes): void {
    if (this.#channels.some((rule) => rule.pattern === '*')) throw new RefusedRule(channelAfterAll)
    if (pattern === '*') this.#channels = []
    if (this.#channels.some((rule) => rule.pattern === pattern)) return
    this.#channels.push({ pattern, matches: pattern === '*' ? everything : globOf(pattern) })
  }

  resetChannels(): void {
    this.#channels = []
  }

  allowAllChannels(): void {
    this.resetChannels()
    this.allowChannels(latin1('*'))
  }

  startFrom(everything: boolean): void {
    this.#base = everything
    this.#commands = []
    this.#decisions.clear()
  }

  ruleCommands(allow: boolean, target: Bytes, context: RuleContext): void {
    const name = target.toLowerCase()
    if (name === '@all') {
      this.startFrom(allow)
      return
    }
    if (/[| ]/.test(name)) throw new RefusedRule('Rules for subcommands are not supported')
    const exists = name[0] === '@' ? isCategory(name.slice(1)) : context.hasCommand(name)
    if (!exists) throw new RefusedRule('Unknown command or category name in ACL')
    // An earlier rule about the same has no effect any more.
    this.#commands = this.#commands.filter((rule) => rule.target !== name)
    this.#commands.push({ allow, target: name })
    this.#decisions.clear()
  }

  addToken(token: Bytes, context: RuleContext): void {
    if (!context.isToken(this.name, token)) {
      throw new RefusedRule('Passwords must be tokens that ACL GENTOKEN made for this user')
    }
    this.#tokens.set(toHex(sha256Bytes(token)), token)
  }

  removeToken(hash: string): void {
    if (!this.#tokens.delete(hash)) {
      throw new RefusedRule('The password you are trying to remove from the user does not exist')
    }
  }

  resetTokens(): void {
    this.#tokens.clear()
  }

  reset(): void {
    this.enabled = false
    this.resetTokens()
    this.resetKeys()
    this.resetChannels()
    this.startFrom(false)
  }

  copy(): AclUser {
    const copy = new AclUser(this.name)
    copy.#take(this)
    return copy
  }

  #take(other: AclUser): void {
    this.enabled = other.enabled
    this.#tokens = new Map(other.#tokens)
    this.#keys = [...other.#keys]
    this.#channels = [...other.#channels]
    this.#base = other.#base
    this.#commands = [...other.#commands]
    this.#decisions.clear()
  }

  // ---- how it is shown ------------------------------------------------------------------------------------------

  /** `+@all -@dangerous`, as it was given, without what no longer has an effect. */
  get commandText(): string {
    const rules = this.#commands.map(({ allow, target }) => ` ${allow ? '+' : '-'}${target}`)
    return `${this.#base ? '+' : '-'}@all${rules.join('')}`
  }

  get passwords(): readonly string[] {
    return [...this.#tokens.keys()]
  }

  get flags(): readonly string[] {
    const allKeys = this.#keys.some((rule) => rule.pattern === '*' && rule.use === 'RW')
    const allChannels = this.#channels.some((rule) => rule.pattern === '*')
    return [
      this.enabled ? 'on' : 'off',
      ...(allKeys ? ['allkeys'] : []),
      ...(allChannels ? ['allchannels'] : []),
      ...(this.#base && this.#commands.length === 0 ? ['allcommands'] : []),
    ]
  }

  /** What ACL SETUSER would make the same user of. */
  get rules(): readonly Bytes[] {
    const keys = this.keyPatterns.map((pattern) => (pattern.startsWith('%') ? pattern : `~${pattern}`))
    const channels = this.channelPatterns.map((pattern) => `&${pattern}`)
    const tokens = [...this.#tokens.values()].map((token) => `>${token}`)
    const all = ['reset', this.enabled ? 'on' : 'off', ...tokens, ...keys, ...channels, ...this.commandText.split(' ')]
    return all.map(latin1)
  }

  /** Patterns as they are; those for reading or writing only with their prefix. */
  get keyPatterns(): readonly string[] {
    return this.#keys.map(({ pattern, use }) => (use === 'RW' ? pattern : `%${use}~${pattern}`))
  }

  get channelPatterns(): readonly string[] {
    return this.#channels.map(({ pattern }) => pattern)
  }
}

const patternAfterAll =
  "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"

const channelAfterAll =
  "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
