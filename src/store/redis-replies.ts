// Replies of redis-server 7.0 in the words of the service.

/** The error of a script without what only the machine that ran it can say. [store.md 9.4] */
export function plainScriptError(error: string): string {
  return error.replace(/\s+stack traceback:.*$/s, '').replace(/\(column:\d+\)/, '')
}

/** redis-server's error of a script in the service's frame, without a traceback. [store.md 9.4] */
export function asScriptFrame(error: string): string {
  const syntax = /^ERR Error compiling script \(new function\): (user_script):(\d+): (.*?)(?: near '(.*)')?$/s.exec(
    error,
  )
  if (syntax) {
    const [, chunk, line, reason, near] = syntax
    const token = near === undefined ? '' : ` near '${near}'`
    const place = near === '<eof>' ? 'at EOF' : `line:${line}${token}`
    return `ERR Error running script: @${chunk} ${place}: syntax error (${reason})`
  }
  const failure = /^(.*) script: \S+, on [@=]([^:]*):(-?\d+)\.$/s.exec(error)
  if (!failure) return error.replace(readOnly, 'READONLY $1')
  const [, whole, chunk, line] = failure
  const message = whole!
    .replace(readOnly, 'READONLY $1')
    .replace(/^ERR /, '')
    .replace('not an integer or', 'not an int or')
  if (message.startsWith(`${chunk}:`)) return `ERR Error running script: @${message}`
  return `ERR Error running script: ${Number(line) > 0 ? `@${chunk}:${line}: ` : ''}${message}`
}

/** The service's word for it. [store.md 9.4] */
const readOnly = /^ERR (Write commands are not allowed from read-only scripts)\.$/

/** A number of seventeen digits as the service prints it; `undefined` for any other text. [store.md 3.4] */
export function asShortest(digits: string): string | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(digits)) return undefined
  const meaning = digits.replace(/e.*$/, '').replace(/^-?0*\.?0*/, '')
  const isLong = meaning.replace('.', '').length >= 16 || digits.includes('e') || digits === '-0'
  return isLong ? String(Number(digits)) : undefined
}
