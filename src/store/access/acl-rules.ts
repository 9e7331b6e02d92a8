import { type Bytes, latin1, toHex } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import { Permissions, RefusedRule, type RuleContext } from './permissions.js'
import type { AclUser } from './user.js'

// The rules of ACL SETUSER, one argument each. [store.md 6.3]

/**
 * Applies all rules. If one of them is invalid, applies none.
 * @throws the error that `refused()` returns for the first invalid rule
 */
export function applyRules(
  rules: readonly Bytes[],
  user: AclUser,
  context: RuleContext,
  refused: (rule: Bytes, reason: string) => Error,
): void {
  const changed = user.copy()
  for (const rule of rules) {
    try {
      applyRule(rule, changed, context)
    } catch (error) {
      throw error instanceof RefusedRule ? refused(rule, error.message) : error
    }
  }
  user.take(changed)
}

/**
 * Applies one rule.
 * @throws RefusedRule when it cannot be applied
 */
function applyRule(rule: Bytes, user: AclUser, context: RuleContext): void {
  const simple = simpleRules.get(rule.toLowerCase())
  if (simple !== undefined) {
    simple(user, context)
    return
  }
  if (applyPermission(rule, user.permissions, context)) return
  const rest = rule.slice(1) as Bytes
  const prefixed = prefixedRules.get(rule[0] ?? '')
  if (prefixed === undefined || rest === '') throw new RefusedRule('Syntax error')
  prefixed(user, rest, context)
}

/**
 * Joins rules as redis-server does: a selector may span several arguments.
 * @throws RefusedRule when a selector is not closed
 */
export function joinedRules(rules: readonly Bytes[]): readonly Bytes[] {
  const joined: Bytes[] = []
  for (let at = 0; at < rules.length; at++) {
    let rule = rules[at]!
    if (rule.startsWith('(')) {
      const first = rule
      while (!rule.endsWith(')')) {
        if (++at === rules.length) {
          throw new RefusedRule(`Unmatched parenthesis in acl selector starting at '${first}'.`)
        }
        rule = latin1(`${rule} ${rules[at]}`)
      }
    }
    joined.push(rule)
  }
  return joined
}

/** Rejects a rule that only redis-server accepts, unless the dialect is `redis`. The error contains the reason. */
function onlyRedis({ dialect }: RuleContext, reason: string): void {
  if (dialect === 'service') throw new RefusedRule(reason)
}

const simpleRules: ReadonlyMap<string, (user: AclUser, context: RuleContext) => void> = new Map(
  Object.entries<(user: AclUser, context: RuleContext) => void>({
    on: (user) => {
      user.enabled = true
    },
    off: (user) => {
      user.enabled = false
    },
    resetpass: (user) => user.resetPasswords(),
    reset: (user) => user.reset(),
    nopass(user, context) {
      onlyRedis(context, 'Users without a password are not supported')
      user.takeAnyPassword()
    },
    clearselectors(user, context) {
      onlyRedis(context, 'Selectors are not supported')
      user.selectors = []
    },
  }),
)

/** Rules about commands, keys and channels. Selectors can also contain such rules. */
const simplePermissions: ReadonlyMap<string, (permissions: Permissions) => void> = new Map(
  Object.entries<(permissions: Permissions) => void>({
    allkeys: (permissions) => permissions.allowAllKeys(),
    '~*': (permissions) => permissions.allowAllKeys(),
    resetkeys: (permissions) => permissions.resetKeys(),
    allchannels: (permissions) => permissions.allowAllChannels(),
    '&*': (permissions) => permissions.allowAllChannels(),
    resetchannels: (permissions) => permissions.resetChannels(),
    allcommands: (permissions) => permissions.startFrom(true),
    nocommands: (permissions) => permissions.startFrom(false),
  }),
)

type PrefixedPermission = (permissions: Permissions, rest: Bytes, context: RuleContext) => void

const prefixedPermissions: ReadonlyMap<string, PrefixedPermission> = new Map(
  Object.entries<PrefixedPermission>({
    '~': (permissions, pattern) => permissions.allowKeys(pattern, 'RW'),
    '%': (permissions, rest) => {
      const tilde = rest.indexOf('~')
      const use = [...new Set(rest.slice(0, tilde).toUpperCase())].sort().join('')
      if (tilde < 1 || (use !== 'R' && use !== 'W' && use !== 'RW')) throw new RefusedRule('Syntax error')
      permissions.allowKeys(rest.slice(tilde + 1) as Bytes, use)
    },
    '&': (permissions, pattern) => permissions.allowChannels(pattern),
    '+': (permissions, target, context) => permissions.ruleCommands(true, target, context),
    '-': (permissions, target, context) => permissions.ruleCommands(false, target, context),
  }),
)

/** Applies a rule if it is about commands, keys or channels. Returns whether it was such a rule. */
function applyPermission(rule: Bytes, permissions: Permissions, context: RuleContext): boolean {
  const simple = simplePermissions.get(rule.toLowerCase())
  if (simple !== undefined) {
    simple(permissions)
    return true
  }
  const kind = rule[0] ?? ''
  const rest = rule.slice(1) as Bytes
  const prefixed = prefixedPermissions.get(kind)
  if (prefixed === undefined || (rest === '' && kind !== '~' && kind !== '&')) return false
  prefixed(permissions, rest, context)
  return true
}

type PrefixedRule = (user: AclUser, rest: Bytes, context: RuleContext) => void

const prefixedRules: ReadonlyMap<string, PrefixedRule> = new Map(
  Object.entries<PrefixedRule>({
    '>': (user, password, context) => user.addPassword(password, context),
    '<': (user, password) => user.removePassword(toHex(sha256Bytes(password))),
    '!': (user, hash) => user.removePassword(checkedHash(hash)),
    '#': (user, hash, context) => {
      onlyRedis(context, 'Hashes of passwords are not supported')
      user.addHash(checkedHash(hash))
    },
    '(': (user, rest, context) => {
      onlyRedis(context, 'Selectors are not supported')
      if (!rest.endsWith(')')) throw new RefusedRule('Syntax error')
      const selector = new Permissions()
      for (const rule of rest.slice(0, -1).split(' ').filter(Boolean)) {
        if (!applyPermission(latin1(rule), selector, context)) throw new RefusedRule('Syntax error')
      }
      user.selectors = [...user.selectors, selector]
    },
  }),
)

function checkedHash(hash: Bytes): string {
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  throw new RefusedRule(
    'The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters',
  )
}
