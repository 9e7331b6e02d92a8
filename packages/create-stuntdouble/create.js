#!/usr/bin/env node
// Runs `stuntdouble init` in the folder where `npm create stuntdouble` was called.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const manifest = createRequire(import.meta.url).resolve('stuntdouble/package.json')
const program = join(dirname(manifest), 'dist/cli.js')
const { status } = spawnSync(process.execPath, [program, 'init', ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
