import { test } from 'vitest'
import { readScenario } from '../src/server/scenario-file.js'
import * as m from '../src/server/scenario-file.js'
test('x', () => { console.log(Object.keys(m)) })
