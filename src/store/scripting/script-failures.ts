import { type LuaError, LuaTable, type LuaValue, plainText, typeName } from '@stuntdouble/lua'
import { type Bytes, text } from '../../kernel/bytes.js'
import { ReplyError } from '../command/reply.js'

/**
 * Returns the error that ended a script, in the service's format. A traceback depends on the Lua implementation. The
 * traceback of the double lists the relevant lines. [store.md 9.4]
 */
export function scriptFailed(error: LuaError, chunk: string): ReplyError {
  const { value, site } = error
  const line = site?.line ?? 0
  const message = failureText(error, chunk, line)
  const callee = error.callee === undefined ? '' : `\n\t[G]: in function '${error.callee}'`
  const place = line === 0 ? '' : `\n\t@${site!.chunk}:${line}: in main chunk`
  return new ReplyError(
    text(`ERR Error running script: ${message}\nstack traceback:${callee}${place}\n\t[G]: ?` as Bytes),
    { cause: value },
  )
}

function failureText({ value, site }: LuaError, chunk: string, line: number): string {
  const table = value instanceof LuaTable ? value.getString('err') : undefined
  const own = typeof table === 'string' ? table.replace(/^ERR /, '') : textOf(value)
  if (own.startsWith(`${chunk}:`)) return `@${own}`
  // Error tables and errors raised by library functions have no position.
  return line > 0 && site?.chunk === chunk ? `@${chunk}:${line}: ${own}` : own
}

/** Formats an error value. A real server crashes if the value is neither a text nor a table with `err`. */
function textOf(value: LuaValue): string {
  if (typeof value === 'object' || typeof value === 'function') return `(error object is a ${typeName(value)} value)`
  return plainText(value)
}

/** Returns the error for a library whose code failed while it was loaded. */
export function registeringFailed({ value }: LuaError): ReplyError {
  const table = value instanceof LuaTable ? value.getString('err') : undefined
  const reason = typeof table === 'string' ? table : `ERR ${textOf(value)}`
  return new ReplyError(text(`ERR Error registering functions: ${reason}` as Bytes))
}
