import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Glob, globOf } from '../../kernel/glob.js'
import type { Work } from '../../kernel/work.js'
import type { KeyUse, Names } from '../command/arguments.js'
import type { Denial } from '../command/errors.js'
import { type Category, categoriesOf, isCategory, type Permissible } from './categories.js'

/** Error for a rejected rule. If redis-server also rejects the rule, the text is that of redis-server. */
export class RefusedRule extends Error {}

export interface RuleContext {
  /** Accepted rules: `service` for those that the service documents, `redis` for all rules of redis-server. */
  readonly dialect: 'service' | 'redis'
  /** Returns whether a command with this lower-case name exists; a subcommand follows after `|`. */
  hasCommand(name: string): boolean
  /** Returns whether GENTOKEN created this token for the user. */
  isToken(user: Bytes, token: string): boolean
}

interface KeyRule {
  readonly pattern: Bytes
  readonly use: 'R' | 'W' | 'RW'
  readonly matches: Glob
}

interface ChannelRule {
  readonly pattern: Bytes
  readonly matches: Glob
}

/** Rule such as `+get` or `-@dangerous`. The last rule that covers a command decides. */
interface CommandRule {
  readonly allow: boolean
  /** Lower-case name of a command, subcommand or category: `get`, `config|get`, `@read`. */
  readonly target: string
}

/** Keys and channels that a command names. `kind` is `pattern` for subscriptions to patterns. */
export interface Named extends Partial<Names> {
  readonly kind?: 'pattern'
}

const everything = (): boolean => true

/** Permissions for commands, keys and channels: a user's own rules, or one of its selectors. [redis 7.0] */
export class Permissions {
  #keys: KeyRule[] = []
  #channels: ChannelRule[] = []
  /** Whether the rules begin with `+@all` instead of `-@all`. */
  #base = false
  #commands: CommandRule[] = []
  #decisions = new Map<string, boolean>()

  // ---- checks ---------------------------------------------------------------------------------------------------

  /** Returns the first denial, or `undefined` if everything is allowed. */
  denial(command: Permissible, { keys = [], channels = [], kind }: Named, work?: Work): Denial | undefined {
    if (!this.mayRun(command)) return { of: 'command' }
    const key = keys.find(({ name, use }) => !this.#mayUseKey(name, use, work))
    if (key !== undefined) return { of: 'key', name: key.name }
    const channel = channels.find((name) => !this.#mayUseChannel(name, kind, work))
    return channel === undefined ? undefined : { of: 'channel', name: channel }
  }

  mayRun(command: Permissible): boolean {
    let decision = this.#decisions.get(command.name)
    if (decision === undefined) {
      decision = this.#decide(command)
      this.#decisions.set(command.name, decision)
    }
    return decision
  }

  #mayUseKey(key: Bytes, use: KeyUse, work: Work | undefined): boolean {
    work?.charge(4 * this.#keys.length)
    return this.#keys.some((rule) => [...use].every((each) => rule.use.includes(each)) && rule.matches(key, work))
  }

  /**
   * Returns whether a channel or a channel pattern is allowed. A pattern is allowed only if a rule contains exactly the
   * same pattern, or if all channels are allowed.
   */
  #mayUseChannel(channel: Bytes, kind: Named['kind'], work: Work | undefined): boolean {
    work?.charge(this.#channels.length)
    return this.#channels.some(({ pattern, matches }) =>
      kind === 'pattern' ? pattern === '*' || pattern === channel : matches(channel, work),
    )
  }

  get patterns(): number {
    return this.#keys.length + this.#channels.length
  }

  #decide(command: Permissible): boolean {
    const name = command.name.toLowerCase().replace(' ', '|')
    const container = name.split('|', 1)[0]!
    const own = categoriesOf(command)
    const rule = this.#commands.findLast(({ target }) =>
      target[0] === '@' ? own.has(target.slice(1) as Category) : target === container || target === name,
    )
    return rule?.allow ?? this.#base
  }

  // ---- changes --------------------------------------------------------------------------------------------------

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
    if (/[| ]/.test(name)) checkSubcommand(name, allow, context)
    const exists = name[0] === '@' ? isCategory(name.slice(1)) : context.hasCommand(name)
    if (!exists) throw new RefusedRule('Unknown command or category name in ACL')
    // Earlier rules about the same command or its subcommands no longer have an effect.
    this.#commands = this.#commands.filter((rule) => rule.target !== name && !rule.target.startsWith(`${name}|`))
    this.#commands.push({ allow, target: name })
    this.#decisions.clear()
  }

  reset(): void {
    this.resetKeys()
    this.resetChannels()
    this.startFrom(false)
  }

  copy(): Permissions {
    const copy = new Permissions()
    copy.#keys = [...this.#keys]
    copy.#channels = [...this.#channels]
    copy.#base = this.#base
    copy.#commands = [...this.#commands]
    return copy
  }

  // ---- display --------------------------------------------------------------------------------------------------

  /**
   * Command rules in their original spelling, such as `+@all -@dangerous`. Rules that have no effect anymore are
   * omitted.
   */
  get commandText(): string {
    const rules = this.#commands.map(({ allow, target }) => ` ${allow ? '+' : '-'}${target}`)
    return `${this.#base ? '+' : '-'}@all${rules.join('')}`
  }

  get flags(): readonly string[] {
    const allKeys = this.#keys.some((rule) => rule.pattern === '*' && rule.use === 'RW')
    const allChannels = this.#channels.some((rule) => rule.pattern === '*')
    return [
      ...(allKeys ? ['allkeys'] : []),
      ...(allChannels ? ['allchannels'] : []),
      ...(this.#base && this.#commands.length === 0 ? ['allcommands'] : []),
    ]
  }

  /** Rules that create the same permissions when they are applied to empty permissions. */
  get rules(): readonly string[] {
    const keys = this.keyPatterns.map((pattern) => (pattern.startsWith('%') ? pattern : `~${pattern}`))
    const channels = this.channelPatterns.map((pattern) => `&${pattern}`)
    return [...keys, ...channels, ...this.commandText.split(' ')]
  }

  /** Key patterns. A pattern for only reading or only writing has a prefix: `%R~cache:*`. */
  get keyPatterns(): readonly string[] {
    return this.#keys.map(({ pattern, use }) => (use === 'RW' ? pattern : `%${use}~${pattern}`))
  }

  get channelPatterns(): readonly string[] {
    return this.#channels.map(({ pattern }) => pattern)
  }
}

/**
 * Checks the form of a subcommand's name. The caller checks whether the subcommand exists.
 * @throws RefusedRule when the form is invalid, or when rules may not name subcommands
 */
function checkSubcommand(name: string, allow: boolean, { dialect }: RuleContext): void {
  if (dialect === 'service') throw new RefusedRule('Rules for subcommands are not supported')
  const parts = name.split('|')
  if (allow && parts.at(-1) === '') throw new RefusedRule('Syntax error')
  if (allow && parts.length > 2) throw new RefusedRule('Allowing first-arg of a subcommand is not supported')
}

const patternAfterAll =
  "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"

const channelAfterAll =
  "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
