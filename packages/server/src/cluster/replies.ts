import type { ScriptReply } from './cluster-store.js'

// Converts replies of scripts. A number that Lua computes arrives as an integer. A number that Redis has stored arrives
// as text.

export function textOf(reply: ScriptReply | undefined): string {
  return reply instanceof Uint8Array ? new TextDecoder().decode(reply) : String(reply ?? '')
}

export function numberOf(reply: ScriptReply | undefined): number {
  return typeof reply === 'number' ? reply : Number(textOf(reply))
}

export function bytesOf(reply: ScriptReply | undefined): Uint8Array {
  return reply instanceof Uint8Array ? reply : new TextEncoder().encode(textOf(reply))
}

export function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
