// Translates replies of redis-server 7.0 to the wording of the service.

/**
 * Returns a script error without the traceback and column, which depend on the machine that ran the script. [store.md
 * 9.4]
 */
export function plainScriptError(error: string): string {
  return error.replace(/\s+stack traceback:.*$/s, '').replace(/\(column:\d+\)/, '')
}

/** Converts a script error of redis-server to the service's format, without a traceback. [store.md 9.4] */
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

/** The service has a different text for this error. [store.md 9.4] */
const readOnly = /^ERR (Write commands are not allowed from read-only scripts)\.$/

/** Formats a number of 17 digits as the service prints it; returns `undefined` for other texts. [store.md 3.4] */
export function asShortest(digits: string): string | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(digits)) return undefined
  const meaning = digits.replace(/e.*$/, '').replace(/^-?0*\.?0*/, '')
  const isLong = meaning.replace('.', '').length >= 16 || digits.includes('e') || digits === '-0'
  return isLong ? String(Number(digits)) : undefined
}
