import type { JsonSettings } from '../runtime/activation.js'
import { argumentError, vm } from '../runtime/activation.js'
import type { Arguments } from '../runtime/library-arguments.js'
import { checkInteger, checkString, library } from '../runtime/library-arguments.js'
import type { LuaFunction, LuaTable, LuaValue, Result } from '../runtime/lua-value.js'
import { Userdata } from '../runtime/lua-value.js'
import { decodeJson } from './json-decode.js'
import { encodeJson } from './json-encode.js'

const jsonNull: Userdata = new Userdata('cjson.null')

export function initialJsonSettings(): JsonSettings {
  return {
    sparseConvert: false,
    sparseRatio: 2,
    sparseSafe: 10,
    encodeMaxDepth: 1000,
    decodeMaxDepth: 1000,
    encodeInvalidNumbers: 'error',
    decodeInvalidNumbers: true,
    keepBuffer: true,
    numberPrecision: 14,
  }
}

type Settings = () => JsonSettings

function atMost(args: Arguments, count: number): void {
  if (args.length > count) throw argumentError(count + 1, 'found too many arguments')
}

function integerOption(args: Arguments, at: number, low: number, high: number, current: number): number {
  if (args[at] === undefined) return current
  const value = checkInteger(args, at)
  if (value < low || value > high) throw argumentError(at + 1, `expected integer between ${low} and ${high}`)
  return value
}

const largest = 0x7fff_ffff

/** Reads a setting that is `true`, `false`, `'on'`, `'off'`, or another allowed word such as `'null'`. */
function switchOption<T>(args: Arguments, at: number, choices: Readonly<Record<string, T>>, current: T): T {
  const value = args[at]
  if (value === undefined) return current
  const word = typeof value === 'boolean' ? (value ? 'on' : 'off') : checkString(args, at)
  const choice = Object.hasOwn(choices, word) ? choices[word] : undefined
  if (choice === undefined) throw argumentError(at + 1, `invalid option '${word}'`)
  return choice
}

const onOff = { off: false, on: true }
const invalidNumbers = { off: 'error', on: 'allow', null: 'null' } as const

function functionsOf(settings: Settings): Record<string, LuaFunction> {
  /**
   * Creates a library function for one setting. If the function gets an argument, it changes the setting first. Then it
   * returns the current setting.
   */
  function setting<
    K extends 'decodeInvalidNumbers' | 'decodeMaxDepth' | 'encodeMaxDepth' | 'keepBuffer' | 'numberPrecision',
  >(name: K, read: (args: Arguments, now: JsonSettings[K]) => JsonSettings[K]): LuaFunction {
    return (...args) => {
      atMost(args, 1)
      const own = settings()
      own[name] = read(args, own[name])
      return own[name]
    }
  }

  return {
    decode: (...args: LuaValue[]): Result => {
      if (args.length !== 1) throw argumentError(1, 'expected 1 argument')
      return decodeJson(checkString(args, 0), settings(), jsonNull)
    },
    decode_invalid_numbers: setting('decodeInvalidNumbers', (args, now) => switchOption(args, 0, onOff, now)),
    decode_max_depth: setting('decodeMaxDepth', (args, now) => integerOption(args, 0, 1, largest, now)),
    encode: (...args: LuaValue[]): Result => {
      if (args.length !== 1) throw argumentError(1, 'expected 1 argument')
      return encodeJson(args[0], settings(), jsonNull)
    },
    encode_invalid_numbers: (...args: LuaValue[]): Result => {
      atMost(args, 1)
      const own = settings()
      own.encodeInvalidNumbers = switchOption<JsonSettings['encodeInvalidNumbers']>(
        args,
        0,
        invalidNumbers,
        own.encodeInvalidNumbers,
      )
      return own.encodeInvalidNumbers === 'null' ? 'null' : own.encodeInvalidNumbers === 'allow'
    },
    encode_keep_buffer: setting('keepBuffer', (args, now) => switchOption(args, 0, onOff, now)),
    encode_max_depth: setting('encodeMaxDepth', (args, now) => integerOption(args, 0, 1, largest, now)),
    encode_number_precision: setting('numberPrecision', (args, now) => integerOption(args, 0, 1, 14, now)),
    encode_sparse_array: (...args: LuaValue[]): Result => {
      atMost(args, 3)
      const own = settings()
      own.sparseConvert = switchOption<boolean>(args, 0, onOff, own.sparseConvert)
      own.sparseRatio = integerOption(args, 1, 0, largest, own.sparseRatio)
      own.sparseSafe = integerOption(args, 2, 0, largest, own.sparseSafe)
      return [own.sparseConvert, own.sparseRatio, own.sparseSafe]
    },
  }
}

function create(settings: Settings): LuaTable {
  return library({
    ...functionsOf(settings),
    _NAME: 'cjson',
    _VERSION: '2.1.0',
    new: () => {
      const own = initialJsonSettings()
      const table = create(() => own)
      table.isReadonly = false
      return table
    },
    null: jsonNull,
  })
}

export const cjsonLibrary: LuaTable = create(() => vm.state.json)
