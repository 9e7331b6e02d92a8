// Vitest, in browser mode and in workerd.
import { expect, test } from 'vitest'
import { register } from './register.mjs'

register(expect, (name, run) => test(name, run, 30_000))
