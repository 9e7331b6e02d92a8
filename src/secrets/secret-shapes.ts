import { isSecretName } from './secret-names.js'
import { rewriteRuns } from './secret-runs.js'

// Recognizes secrets in any text by their shape alone. Captured text is untrusted and may be long, so no pattern reads
// a character more than a few dozen times. Patterns match only ASCII spaces, so they work on bytes and on characters. A
// match contains no quotation mark, and no backslash inside quotes. A replacement therefore never changes quoting.

/** Text that replaces a secret. */
export const hidden: string = '***'

type Asks = (name: string) => boolean

/** Matches keys of known issuers. */
export const issuedKey: RegExp =
  /(?<![\w-])(?:(?:sk|pk|rk)_(?:live|test)_\w{8,512}|sk-[\w-]{16,512}|gh[pousr]_\w{16,512}|github_pat_\w{16,512}|glpat-[\w-]{16,512}|xox[abeoprs]-[\w-]{8,512}|xapp-[\w-]{8,512}|AKIA[A-Z\d]{12,512}|AIza[\w-]{20,512}|sig_[A-Za-z\d]{12,512}|whsec_[\w+/=]{8,512}|npm_\w{20,512}|SG\.[\w-]{8,512}\.[\w-]{8,512})/g
const anyIssued = /[spr]k[_-]|gh[pousr]_|_pat_|glpat|xox|xapp|AKIA|AIza|sig_|whsec_|npm_|SG\./

const scheme = /\b(?:bearer|basic)[\x09-\x0d ]{1,200}(?!\*{3})/gi
const behindScheme = /[^\w~+/.=-]/g
const address = /:\/\//g
const behindUserInfo = /[\x00-\x20/?#"\\]/g
const looseBehindUserInfo = /[\x00-\x20/?#"]/g
const parameter = /(?<![\w.%[\]-])([\w.%[\]-]{1,200})=/g
const behindValue = /[&#\x00-\x20"\\]|'(?=[),.;:\x00-\x20]|$)/g
const looseBehindValue = /[&#\x00-\x20"]|'(?=[),.;:\x00-\x20]|$)/g
const element = /<([\w:.-]{1,80})>/g
const behindElement = /[<>"\\]/g
const singleQuoted = /(?<![\w.-])([\w.-]{2,80})'?[\x09 ]{0,3}[:=][\x09 ]{0,3}'/g
const behindQuoted = /['"\n\\]/g
const formPart = /(?<=name=")([\w.[\]-]{2,80})"(?:;[^\n]{0,200})?\r?\n(?:[\w-]{1,60}:[^\n]{0,200}\r?\n){0,3}\r?\n/g
const line = /(?<=^|["\x00-\x1f])[\x09 -]{0,40}([\w.-]{2,80}):[\x09 ]{1,20}/gm
const behindLine = /[\r\n"\\]/g
/** Names of headers whose secret values contain spaces. */
const spacious = /authorization|cookie/i

/**
 * Redacts texts that have the shape of a secret.
 * @param loose whether a backslash is an ordinary character. In JSON, it begins an escape.
 */
export function withoutShapes(given: string, loose: boolean, isSecret: Asks = isSecretName): string {
  let out = rewritePrivateKeys(given, () => hidden)
  out = rewriteRuns(out, scheme, behindScheme, (run) => (run.length < 6 ? undefined : hidden))
  if (anyIssued.test(out)) out = out.replace(issuedKey, (key) => (key.startsWith('sig_') ? `sig_${hidden}` : hidden))
  if (out.includes('://')) {
    out = rewriteRuns(out, address, loose ? looseBehindUserInfo : behindUserInfo, (run) =>
      run.includes('@', 1) ? `${hidden}${run.slice(run.lastIndexOf('@'))}` : undefined,
    )
  }
  const named = (head: RegExp, behind: RegExp, hide: (value: string, name: string) => string | undefined): void => {
    out = rewriteRuns(
      out,
      head,
      behind,
      (run, [, name = '']) => (run === '' ? undefined : hide(run, name)),
      ([, name = '']) => isSecret(name),
    )
  }
  if (out.includes('=')) named(parameter, loose ? looseBehindValue : behindValue, () => hidden)
  if (out.includes('</')) named(element, behindElement, () => hidden)
  if (out.includes("'")) named(singleQuoted, behindQuoted, () => hidden)
  if (out.includes('name="')) named(formPart, behindLine, () => hidden)
  if (out.includes(': ')) named(line, behindLine, lineOf)
  return out
}

/**
 * Returns the replacement for the value in a line such as `name: value`, or `undefined` to keep the value. A value of
 * several words counts as prose, unless the name is the name of a header that authenticates.
 */
function lineOf(value: string, name: string): string | undefined {
  const isProse = /[\x09 ]/.test(value.trim()) && !spacious.test(name)
  return isProse || /^(?:bearer|basic) \*{3}/i.test(value) ? undefined : hidden
}

const begin = '-----BEGIN '
const end = '-----END '

/**
 * Rewrites private keys, each from `-----BEGIN` to the dashes at its end. A key without an end extends to the end of
 * the text.
 */
export function rewritePrivateKeys(given: string, rewrite: (key: string) => string): string {
  let from = given.indexOf(begin)
  if (from === -1) return given
  let out = ''
  let copied = 0
  while (from !== -1) {
    const isKey = given.slice(from, from + 80).includes('PRIVATE KEY-----')
    if (isKey) {
      const to = given.indexOf(end, from)
      const behind = to === -1 ? given.length : closing(given, to)
      out += given.slice(copied, from) + rewrite(given.slice(from, behind))
      copied = behind
    }
    from = given.indexOf(begin, Math.max(from + begin.length, copied))
  }
  return out + given.slice(copied)
}

/** Returns the position after the dashes that follow `-----END … KEY`. */
function closing(given: string, at: number): number {
  const dashes = given.slice(at + end.length, at + 100).indexOf('-----')
  return at + end.length + (dashes === -1 ? 0 : dashes + 5)
}
