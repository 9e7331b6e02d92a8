// Deno: `deno test`.
import { expect } from 'expect'
import { register } from './register.mjs'

register(expect, (name, run) =>
  // Without permissions, each read of a variable or of the working directory throws.
  Deno.test({
    name,
    fn: run,
    permissions: name.includes('nothing throws without an environment') ? 'none' : 'inherit',
  }),
)
