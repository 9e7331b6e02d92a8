// Node.js: `node --test`.
import { test } from 'node:test'
import { register } from './register.mjs'
import { expect } from 'expect'

register(expect, (name, run) => test(name, run))
