// Bun: `bun test`.
import { expect, test } from 'bun:test'
import { register } from './register.mjs'

register(expect, (name, run) => test(name, run, 30_000))
