import { expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../../src/index.js'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import type { Outlet } from '../../../src/store/resp/session.js'
import { sessionsOf } from '../../../src/store/resp/sessions.js'
import { heardPrograms } from './heard-programs.js'

// Messages that a connection receives about its own commands, byte for byte where redis-server writes them: within the
// replies of EXEC.

function open() {
  const sandbox = createSandbox({ clock: 'manual' })
  onTestFinished(() => sandbox.dispose())
  let got = ''
  const put = (bytes: Bytes): void => {
    got += bytes
  }
  const outlet: Outlet = { send: put, tell: ({ bytes }) => put(bytes), end() {}, break() {} }
  const sessions = sessionsOf(sandbox.store)
  const session = sessions.open('default', { address: 'there:1', protocol: 2, known: {} }, outlet)
  const say = (command: string): string => {
    got = ''
    sessions.run(session, command.split(' ').map(latin1), { send: put, done() {}, break() {} })
    return got
  }
  return { sandbox, say }
}

test.each(Object.entries(heardPrograms))('%s: sends the bytes of redis-server', (_, rows) => {
  const { say } = open()
  for (const [command, expected] of rows) {
    const answer = say(command)
    if (!command.startsWith('HELLO')) expect([command, answer]).toEqual([command, expected])
  }
})

test('logs one reply for each row', () => {
  const { sandbox, say } = open()
  for (const command of ['SET a 1', 'MULTI', 'GET a', 'SUBSCRIBE c', 'LPUSH a x', 'EXEC']) say(command)
  const logged = sandbox.traffic.filter((entry) => entry.type === 'command')
  const exec = logged.at(-1)!
  expect(exec.type === 'command' && exec.reply).toEqual([
    '1',
    null,
    'WRONGTYPE Operation against a key holding the wrong kind of value',
  ])
})
