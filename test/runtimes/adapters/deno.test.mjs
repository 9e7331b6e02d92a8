// Deno: `deno test`.
import { expect } from 'expect'
import { register } from './register.mjs'

register(expect, (name, run) => Deno.test(name, run))
