import { isSecretName } from './names.js'
import { hidden } from './shapes.js'

// Where commands of the data store take secrets as words. [redis.io: AUTH, ACL SETUSER, HELLO, MIGRATE, CONFIG SET]

type Asks = (name: string) => boolean

/** Alternating fields and values after the key. */
const pairs = /^(?:hset|hmset|hsetnx)$/i
/** The same after options. */
const pairsSomewhere = /^(?:hsetex|xadd)$/i
/** A path, and what is written there. */
const paths = /^json\.(?:set|merge|mset|arrappend|arrinsert|strappend)$/i
/** Names what it reads. */
const reads = /^(?:hget|hmget|hgetdel|hgetex|json\.(?:get|mget|resp|arrpop|objkeys|strappend))$/i
/** Replies with alternating names and values. */
const listsPairs =
  /^(?:hgetall|hrandfield|hscan|hgetdel|x(?:range|revrange|read|readgroup|claim|autoclaim)|config|eval|eval_ro|evalsha|evalsha_ro|fcall|fcall_ro)$/i
const takesPassword = /^(?:auth|acl|config|hello|migrate)$/i
const setting = /pass|auth|secret/i

/** Whether a word may begin a command with secrets in it. */
export function isTelling(word: string): boolean {
  return takesPassword.test(word) || [pairs, pairsSomewhere, paths, reads, listsPairs].some((one) => one.test(word))
}

/** Whether a command takes passwords as words. */
export function isSecretCommand(argv: readonly string[]): boolean {
  return takesPassword.test(argv[0] ?? '')
}

/** Which words of a command are secrets, by index, with what is shown in their place. */
export function secretWords(argv: readonly string[], isSecret: Asks = isSecretName): ReadonlyMap<number, string> {
  const name = argv[0] ?? ''
  const verb = (argv[1] ?? '').toLowerCase()
  const found = new Map<number, string>()
  const from = (first: number): void => {
    for (let index = first; index < argv.length; index++) found.set(index, hidden)
  }
  if (/^auth$/i.test(name)) from(1)
  else if (/^config$/i.test(name) && verb === 'set') {
    for (let index = 3; index < argv.length; index += 2) if (setting.test(argv[index - 1]!)) found.set(index, hidden)
  } else if (/^acl$/i.test(name) && verb === 'resttoken') from(3)
  else if (/^acl$/i.test(name) && verb === 'setuser') {
    argv.forEach((word, index) => {
      if (index > 2 && /^[><#!]/.test(word)) found.set(index, word[0] + hidden)
      // A selector has no passwords: one that is written into it is refused, and not shown.
      else if (index > 2 && /[\s(][><#!]/.test(word)) found.set(index, hidden)
    })
  } else if (/^acl$/i.test(name) && verb === 'dryrun') {
    for (const [index, shown] of secretWords(argv.slice(3), isSecret)) found.set(index + 3, shown)
  } else if (/^(?:hello|migrate)$/i.test(name)) {
    const at = argv.findIndex((word) => /^auth2?$/i.test(word))
    if (at > 0) from(at + 1)
  } else if (pairs.test(name)) afterNames(argv, 2, 2, isSecret, found)
  else if (pairsSomewhere.test(name)) afterNames(argv, 2, 1, isSecret, found)
  else if (paths.test(name)) afterPaths(argv, isSecret, found)
  return found
}

function afterNames(argv: readonly string[], first: number, step: number, isSecret: Asks, found: Map<number, string>) {
  for (let index = first; index + 1 < argv.length; index += step)
    if (isSecret(argv[index]!)) found.set(index + 1, hidden)
}

/** `JSON.SET key path value`, `JSON.MSET key path value key path value …`. */
function afterPaths(argv: readonly string[], isSecret: Asks, found: Map<number, string>): void {
  const isMany = /^json\.mset$/i.test(argv[0]!)
  for (let index = 2; index < argv.length; index += 3) {
    if (index > 2 && !isMany) break
    if (!isSecretPath(argv[index]!, isSecret)) continue
    for (let at = index + 1; at < (isMany ? index + 2 : argv.length); at++) found.set(at, hidden)
  }
}

/** `$.user.password`, `.token`, `$['api-key'][0]`: some part of it is named like a secret. */
function isSecretPath(path: string, isSecret: Asks): boolean {
  return (
    /[.$[]/.test(path) && path.length < 4096 && path.split(/[.[\]'"$]+/).some((part) => part !== '' && isSecret(part))
  )
}

/** Whether a command's reply is a secret, whatever it looks like. */
export function isSecretReply(argv: readonly string[], isSecret: Asks = isSecretName): boolean {
  const name = argv[0] ?? ''
  if (/^acl$/i.test(name)) return /^(?:gentoken|resttoken|genpass|getuser|list)$/i.test(argv[1] ?? '')
  if (!reads.test(name)) return false
  return argv.slice(2).some((word) => isSecret(word) || isSecretPath(word, isSecret))
}

/** Whether a command's reply lists names with their values. */
export function repliesInPairs(argv: readonly string[]): boolean {
  return listsPairs.test(argv[0] ?? '')
}

/** Hides the texts of a reply that follow a name like that of a secret. */
export function hidePairs(reply: unknown, isSecret: Asks = isSecretName): unknown {
  if (!Array.isArray(reply)) return reply
  return reply.map((item: unknown, index) => {
    const label: unknown = reply[index - 1]
    if (typeof label === 'string' && typeof item === 'string' && isSecret(label)) return hidden
    return hidePairs(item, isSecret)
  })
}
