import { isSecretName } from './secret-names.js'
import { hidden } from './secret-shapes.js'

// Finds the arguments of store commands that are secrets. [redis.io: AUTH, ACL SETUSER, HELLO, MIGRATE, CONFIG SET]

type Asks = (name: string) => boolean

/** Commands with alternating fields and values after the key. */
const pairs = /^(?:hset|hmset|hsetnx)$/i
/** Commands with alternating fields and values after options. */
const pairsSomewhere = /^(?:hsetex|xadd)$/i
/** Commands with a path followed by the value that is written there. */
const paths = /^json\.(?:set|merge|mset|arrappend|arrinsert|strappend)$/i
/** Commands that return the values of the fields or paths in their arguments, such as `HGET key field`. */
const reads = /^(?:hget|hmget|hgetdel|hgetex|json\.(?:get|mget|resp|arrpop|objkeys|strappend))$/i
/** Commands whose reply consists of alternating names and values. */
const listsPairs =
  /^(?:hgetall|hrandfield|hscan|hgetdel|x(?:range|revrange|read|readgroup|claim|autoclaim)|config|eval|eval_ro|evalsha|evalsha_ro|fcall|fcall_ro)$/i
const takesPassword = /^(?:auth|acl|config|hello|migrate)$/i
/** Matches a text that is or begins with the name of a command with passwords: `AUTH`, `auth user secret`. */
const beginsCommand = /^\s*(?:auth|acl|config|hello|migrate)(?:\s|$)/i
/** Commands whose arguments can contain a command with passwords, or a script that calls such a command. */
const mayTell = /^(?:command|script|function)$/i
const setting = /pass|auth|secret/i

/** Returns whether a command that begins with this word may contain or return secrets. */
export function isTelling(word: string): boolean {
  return (
    beginsCommand.test(word) ||
    mayTell.test(word) ||
    [pairs, pairsSomewhere, paths, reads, listsPairs].some((one) => one.test(word))
  )
}

export function isSecretCommand(argv: readonly string[]): boolean {
  return takesPassword.test(argv[0] ?? '')
}

/** Returns the indexes of secret arguments, with the text that replaces each. */
export function secretArguments(argv: readonly string[], isSecret: Asks = isSecretName): ReadonlyMap<number, string> {
  const name = argv[0] ?? ''
  const found = passwordWords(argv)
  if (pairs.test(name)) afterNames(argv, 2, 2, isSecret, found)
  else if (pairsSomewhere.test(name)) afterNames(argv, 2, 1, isSecret, found)
  else if (paths.test(name)) afterPaths(argv, isSecret, found)
  return found
}

/**
 * Returns the password arguments of a command, by index. If another argument is missing or misspelled, the password may
 * be in an invalid position. Arguments in such positions are therefore redacted as well.
 */
export function passwordWords(argv: readonly string[]): Map<number, string> {
  const found = new Map<number, string>()
  const from = (first: number): void => {
    for (let index = first; index < argv.length; index++) found.set(index, hidden)
  }
  /** Redacts a command that is an argument of this command. */
  const inner = (first: number): void => {
    for (const [index, shown] of passwordWords(argv.slice(first))) found.set(index + first, shown)
  }
  // Names of commands are short, but arguments may be very long.
  const name = (argv[0] ?? '').slice(0, 100).toLowerCase()
  const verb = (argv[1] ?? '').slice(0, 100).toLowerCase()
  if (name === 'auth') from(1)
  else if (name === 'acl') {
    if (verb === 'setuser') ruleWords(argv, found)
    else if (verb === 'dryrun') inner(3)
    else if (verb === 'gentoken' || verb === 'resttoken') from(3)
    else if (!plainVerbs.has(verb)) from(2)
  } else if (name === 'config' && verb === 'set') {
    for (let index = 3; index < argv.length; index += 2) if (setting.test(argv[index - 1]!)) found.set(index, hidden)
  } else if (name === 'command' && /^getkeys(?:andflags)?$/.test(verb)) inner(2)
  else if (name === 'hello') from(credentialsAt(argv))
  else if (name === 'migrate') {
    const at = argv.findIndex((word) => /^auth2?$/i.test(word))
    if (at > 0) from(at + 1)
  } else if (runsScript.test(name)) {
    // A script can contain a password, or receive it as any argument, so all arguments are redacted.
    if (argv.some((word) => signsIn.test(word))) from(1)
    else
      argv.forEach((word, index) => {
        if (index > 1 && beginsCommand.test(word)) inner(index)
      })
  } else if (/\s/.test(name)) {
    // The first argument is a text such as `AUTH user`: a command with some or all of its arguments.
    const [first = '', ...more] = argv[0]!.trim().split(/\s+/)
    if (!takesPassword.test(first)) return found
    from(1)
    if (more.length > 0) found.set(0, `${first} ${hidden}`)
  }
  return found
}

/**
 * Returns whether a command contains or runs a script that uses passwords. The reply of such a command may repeat a
 * password anywhere.
 */
export function isSecretScript(argv: readonly string[]): boolean {
  return runsScript.test((argv[0] ?? '').slice(0, 100).toLowerCase()) && passwordWords(argv).size > 0
}

const runsScript = /^(?:eval(?:sha)?(?:_ro)?|fcall(?:_ro)?|script|function)$/
/** Matches the source of a script that calls a command with passwords, such as `redis.call('AUTH', …)`. */
const signsIn = /\(\s{0,20}(?:["']|\[={0,9}\[)\s*(?:auth|acl|hello|migrate|config)\b|["'[]getkeys/i
/** ACL subcommands without passwords. */
const plainVerbs: ReadonlySet<string> = new Set(
  'cat deluser genpass getuser help list load log save users whoami'.split(' '),
)

/**
 * Returns the index of the first argument of HELLO that can be a credential: the one after AUTH, or the first one that
 * is neither a version nor a client name.
 */
function credentialsAt(argv: readonly string[]): number {
  if (!/^\d+$/.test(argv[1] ?? '')) return /^auth$/i.test(argv[1] ?? '') ? 2 : 1
  let at = 2
  while (/^setname$/i.test(argv[at] ?? '')) at += 2
  return /^auth$/i.test(argv[at] ?? '') ? at + 1 : at
}

/** ACL rules without a password. Selectors contain only `permission` rules. */
const plainRule = /^(?:on|off|nopass|resetpass|reset|clearselectors|(?:skip-)?sanitize-payload)$/i
const permission = /^(?:[~&+%-].*|(?:all|reset)(?:keys|channels)|(?:all|no)commands)$/is

function ruleWords(argv: readonly string[], found: Map<number, string>): void {
  let isSelector = false
  argv.forEach((word, index) => {
    // The first three arguments are `ACL SETUSER name`. If the name is missing, the third argument is already a rule.
    if (index < 2 || (index === 2 && !/^[><#!(]/.test(word))) return
    if (!isSelector && /^[><#!]/.test(word)) {
      found.set(index, word[0] + hidden)
      return
    }
    const opens = !isSelector && word.startsWith('(')
    isSelector ||= opens
    const closes = isSelector && word.endsWith(')')
    const rules = word.slice(opens ? 1 : 0, closes ? -1 : undefined)
    const isPlain = isSelector
      ? rules.split(' ').every((rule) => rule === '' || permission.test(rule))
      : plainRule.test(rules) || permission.test(rules)
    if (!isPlain) found.set(index, hidden)
    if (closes) isSelector = false
  })
}

function afterNames(argv: readonly string[], first: number, step: number, isSecret: Asks, found: Map<number, string>) {
  for (let index = first; index + 1 < argv.length; index += step)
    if (isSecret(argv[index]!)) found.set(index + 1, hidden)
}

/** Redacts values after secret paths: `JSON.SET key path value`, `JSON.MSET key path value key path value …`. */
function afterPaths(argv: readonly string[], isSecret: Asks, found: Map<number, string>): void {
  const isMany = /^json\.mset$/i.test(argv[0]!)
  for (let index = 2; index < argv.length; index += 3) {
    if (index > 2 && !isMany) break
    if (!isSecretPath(argv[index]!, isSecret)) continue
    for (let at = index + 1; at < (isMany ? index + 2 : argv.length); at++) found.set(at, hidden)
  }
}

/** Returns whether a part of a JSON path has a secret name: `$.user.password`, `.token`, `$['api-key'][0]`. */
function isSecretPath(path: string, isSecret: Asks): boolean {
  return (
    /[.$[]/.test(path) && path.length < 4096 && path.split(/[.[\]'"$]+/).some((part) => part !== '' && isSecret(part))
  )
}

/** Returns whether a command alone shows that its reply is a secret: `ACL GENTOKEN`, `HGET user password`. */
export function isSecretReply(argv: readonly string[], isSecret: Asks = isSecretName): boolean {
  const name = argv[0] ?? ''
  if (/^acl$/i.test(name)) return /^(?:gentoken|resttoken|genpass|getuser|list)$/i.test(argv[1] ?? '')
  if (!reads.test(name)) return false
  return argv.slice(2).some((word) => isSecret(word) || isSecretPath(word, isSecret))
}

export function repliesInPairs(argv: readonly string[]): boolean {
  return listsPairs.test(argv[0] ?? '')
}

/** Redacts the texts in a reply that follow a secret name. */
export function hidePairs(reply: unknown, isSecret: Asks = isSecretName): unknown {
  if (!Array.isArray(reply)) return reply
  return reply.map((item: unknown, index) => {
    const label: unknown = reply[index - 1]
    if (typeof label === 'string' && typeof item === 'string' && isSecret(label)) return hidden
    return hidePairs(item, isSecret)
  })
}
