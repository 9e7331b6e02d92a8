import { didYouMean } from '../../../../src/kernel/nearest-name.js'
import { excerpt } from '../../../../src/report/safe-text.js'
import { Mistake } from './mistake.js'
import type { InputSchema, ToolArguments, ToolRow } from './tool-row.js'

/** Checks the arguments of a tool. @throws Mistake for unknown or missing arguments, and for a wrong type */
export function checkArguments({ name, input }: ToolRow, given: ToolArguments): void {
  const known = Object.keys(input.properties)
  const unknown = Object.keys(given).find((one) => !known.includes(one))
  if (unknown !== undefined && !input.additionalProperties) {
    const takes = known.length === 0 ? 'none' : known.join(', ')
    throw new Mistake(
      `${name}: unknown argument ${shown(unknown)}.${didYouMean(unknown, known)} The tool takes ${takes}.`,
    )
  }
  const missing = input.required.find((one) => given[one] === undefined)
  if (missing !== undefined) throw new Mistake(`${name}: argument "${missing}" is missing: ${saidOf(input, missing)}.`)
  for (const [one, value] of Object.entries(given)) {
    const { type, minimum, maximum } = (input.properties[one] ?? {}) as Bounds
    if (type === undefined || isOfType(type, value, minimum, maximum)) continue
    const bounds = type !== 'integer' ? '' : ` from ${minimum ?? 0}${maximum === undefined ? ' on' : ` to ${maximum}`}`
    throw new Mistake(`${name}: "${one}" must be ${words[type] ?? type}${bounds}: ${saidOf(input, one)}.`)
  }
}

interface Bounds {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
}

const words: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function isOfType(type: string, value: unknown, minimum = Number.NEGATIVE_INFINITY, maximum = Number.MAX_SAFE_INTEGER) {
  if (type === 'integer') return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return type !== 'string' && type !== 'boolean' ? true : typeof value === type
}

function saidOf({ properties }: InputSchema, name: string): string {
  return (properties[name] as { description?: string }).description ?? `see the description of the tool`
}

function shown(given: string): string {
  return JSON.stringify(excerpt(given, 60))
}
