import { expect, test } from 'vitest'
import { callerLine } from '../../src/kernel/caller-line.js'

const errorAt = (...frames: string[]): Error =>
  Object.assign(new Error('here'), { stack: ['Error', ...frames].join('\n') })

test.each([
  ['    at http://localhost:63315/invite.test.js?import&browserv=1795810077757:3:192', '/invite.test.js:3:192'],
  ['    at add (http://localhost:63315/src/invite.js:7:5)', '/src/invite.js:7:5'],
  ['add@http://localhost:63315/invite.test.js?t=1:3:4', '/invite.test.js:3:4'],
  ['    at file:///app/invite.test.js:3:4', 'file:///app/invite.test.js:3:4'],
  ['    at add (/app/invite.test.js:3:4)', '/app/invite.test.js:3:4'],
  ['    at node:internal/process/task_queues:104:5', ''],
  ['    at http://localhost:63315/node_modules/.vite/deps/stuntdouble.js?v=c9215985:1:2', ''],
])('the place of %j is %j', (frame, place) => {
  expect(callerLine(errorAt(frame))).toBe(place)
})
