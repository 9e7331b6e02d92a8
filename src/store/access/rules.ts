import { type Bytes, toHex } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { AclUser } from './user.js'

// The rules of ACL SETUSER, one word each. [store.md 6.3]

/** Why a rule was refused; the texts are redis-server's where it refuses the same. */
export class RefusedRule extends Error {}

/** What a user must know about the store to judge a rule. */
export interface RuleContext {
  /** Whether a command of this lower-case name exists; with subcommands, the name of the whole. */
  hasCommand(name: string): boolean
  /** Whether GENTOKEN made this token for the user. */
  isToken(user: Bytes, token: string): boolean
}

/** Throws `RefusedRule` when the rule cannot be applied. */
export function applyRule(rule: Bytes, user: AclUser, context: RuleContext): void {
  const simple = simpleRules.get(rule.toLowerCase())
  if (simple !== undefined) {
    simple(user)
    return
  }
  const kind = rule[0] ?? ''
  const rest = rule.slice(1) as Bytes
  const prefixed = prefixedRules.get(kind)
  if (prefixed === undefined || (rest === '' && kind !== '~' && kind !== '&')) throw new RefusedRule('Syntax error')
  prefixed(user, rest, context)
}

const simpleRules: ReadonlyMap<string, (user: AclUser) => void> = new Map(
  Object.entries<(user: AclUser) => void>({
    on: (user) => {
      user.enabled = true
    },
    off: (user) => {
      user.enabled = false
    },
    allkeys: (user) => user.allowAllKeys(),
    '~*': (user) => user.allowAllKeys(),
    resetkeys: (user) => user.resetKeys(),
    allchannels: (user) => user.allowAllChannels(),
    '&*': (user) => user.allowAllChannels(),
    resetchannels: (user) => user.resetChannels(),
    allcommands: (user) => user.startFrom(true),
    nocommands: (user) => user.startFrom(false),
    resetpass: (user) => user.resetTokens(),
    reset: (user) => user.reset(),
    nopass: () => {
      throw new RefusedRule('Users without a password are not supported')
    },
  }),
)

type PrefixedRule = (user: AclUser, rest: Bytes, context: RuleContext) => void

const prefixedRules: ReadonlyMap<string, PrefixedRule> = new Map(
  Object.entries<PrefixedRule>({
    '>': (user, token, context) => user.addToken(token, context),
    '<': (user, token) => user.removeToken(toHex(sha256Bytes(token))),
    '!': (user, hash) => {
      if (!/^[0-9a-f]{64}$/.test(hash)) {
        throw new RefusedRule(
          'The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters',
        )
      }
      user.removeToken(hash)
    },
    '#': () => {
      throw new RefusedRule('Hashes of passwords are not supported')
    },
    '~': (user, pattern) => user.allowKeys(pattern, 'RW'),
    '%': (user, rest) => {
      const tilde = rest.indexOf('~')
      const use = [...new Set(rest.slice(0, tilde).toUpperCase())].sort().join('')
      if (tilde < 1 || (use !== 'R' && use !== 'W' && use !== 'RW')) throw new RefusedRule('Syntax error')
      user.allowKeys(rest.slice(tilde + 1) as Bytes, use)
    },
    '&': (user, pattern) => user.allowChannels(pattern),
    '+': (user, target, context) => user.ruleCommands(true, target, context),
    '-': (user, target, context) => user.ruleCommands(false, target, context),
    '(': () => {
      throw new RefusedRule('Selectors are not supported')
    },
  }),
)
