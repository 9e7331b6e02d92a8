// Node.js: `node --test`.
import { test } from 'node:test'
import { expect } from 'expect'
import { register } from './register.mjs'

register(expect, (name, run) => test(name, run))
