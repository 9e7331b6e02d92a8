import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSandbox, fault, type Sandbox } from '../../../../src/index.js'
import { runs } from '../../../../test/support/effort.js'
import { openRedisSocket } from '../../src/redis-port/in-process.js'

// The effects of connections are part of the history, so a fork of their sandbox is equal to it.

/** Waits for some turns of the host, in which sent data arrives. */
async function arrival(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 3))
}

async function expectSame(sandbox: Sandbox): Promise<void> {
  using fork = await sandbox.fork()
  expect(fork.traffic.timeline()).toBe(sandbox.traffic.timeline())
  expect(fork.dump()).toEqual(sandbox.dump())
}

/** Runs a function with a sandbox and connections, which send what the function writes. */
async function withPeers(scene: (sandbox: Sandbox, open: () => Promise<Socket>) => Promise<void>): Promise<void> {
  using sandbox = createSandbox({ policy: { commands: 'all' } })
  const { path } = await openRedisSocket(sandbox)
  const peers: Socket[] = []
  await scene(sandbox, async () => {
    const peer = connect(path).on('error', () => undefined)
    peer.resume()
    peers.push(peer)
    await arrival()
    return peer
  })
  for (const peer of peers) peer.destroy()
}

test('a fork contains a connection that was killed while it was blocked', async () => {
  await withPeers(async (sandbox, open) => {
    const [waiting, killer] = [await open(), await open()]
    waiting.write('BLPOP q 0\r\n')
    await arrival()
    killer.write('CLIENT KILL TYPE normal\r\nRPUSH q a\r\n')
    await arrival()
    expect(sandbox.store.run('LRANGE', 'q', 0, -1)).toEqual(['a'])
    await expectSame(sandbox)
  })
})

test('a fork contains a connection that was closed with its user while it subscribed', async () => {
  await withPeers(async (sandbox, open) => {
    const run = (...words: string[]): unknown => sandbox.store.run(...words)
    run('ACL', 'SETUSER', 'bob', 'on', '~*', '&*', '+@all')
    const token = String(run('ACL', 'GENTOKEN', 'bob'))
    run('ACL', 'SETUSER', 'bob', `>${token}`)
    const [listening, other] = [await open(), await open()]
    listening.write(`AUTH bob ${token}\r\nSUBSCRIBE c\r\n`)
    await arrival()
    other.write('ACL DELUSER bob\r\nPUBLISH c x\r\n')
    await arrival()
    expect(sandbox.traffic.timeline()).toMatch(/PUBLISH c x .*connection.* → 0$/m)
    await expectSame(sandbox)
  })
})

test('a fork contains a named connection that continues after a reset', async () => {
  await withPeers(async (sandbox, open) => {
    const peer = await open()
    peer.write('CLIENT SETNAME worker\r\nCLIENT SETINFO LIB-NAME mine\r\n')
    await arrival()
    sandbox.reset()
    peer.write('CLIENT GETNAME\r\nCLIENT INFO\r\n')
    await arrival()
    expect(sandbox.traffic.timeline()).toContain('CLIENT GETNAME (over a connection) → worker')
    await expectSame(sandbox)
  })
})

test('a fork contains connections that gave up a missing reply, or still wait for it', async () => {
  await withPeers(async (sandbox, open) => {
    sandbox.faults.add({ on: 'store.request', fault: fault.hang() })
    const [gone, patient] = [await open(), await open()]
    gone.write('SET a 1\r\n')
    patient.write('SET b 1\r\n')
    await arrival()
    await sandbox.clock.advance('1s')
    gone.destroy()
    await arrival()
    expect(sandbox.traffic.timeline()).not.toContain('the caller gave up')
    await expectSame(sandbox)
  })
})

const lines = fc.constantFrom(
  ...['MULTI', 'EXEC', 'DISCARD', 'WATCH k', 'SET k 1', 'INCR k', 'HELLO 3', 'HELLO 2 SETNAME me', 'RESET', 'QUIT'],
  ...['SUBSCRIBE c', 'PSUBSCRIBE *', 'UNSUBSCRIBE', 'PUBLISH c x', 'MONITOR', 'PUBSUB NUMPAT', 'INFO clients'],
  ...['BLPOP q 0', 'BLPOP q 5', 'RPUSH q a', 'BRPOPLPUSH q r 3', 'XREAD BLOCK 1000 STREAMS s $', 'XADD s * a b'],
  ...['CLIENT SETNAME nm', 'CLIENT LIST', 'CLIENT GETNAME', 'CLIENT KILL TYPE pubsub', 'CLIENT KILL TYPE normal'],
  ...['CLIENT UNBLOCK 2', 'CLIENT UNBLOCK 1 ERROR', 'CLIENT REPLY OFF', 'FLUSHALL', 'ACL SETUSER bob on', 'ACL WHOAMI'],
  ...['ACL DELUSER bob', 'AUTH bob TOKEN', 'HELLO 3 AUTH bob TOKEN', 'AUTH bob wrong'],
)
const faults = fc.constantFrom(
  ...[
    fault.latency('2s'),
    fault.reset(),
    fault.truncate(3),
    fault.hang(),
    fault.slowBody(1),
    fault.status(503),
    fault.restart('1s'),
  ],
)
const who = fc.nat(2)
const steps = fc.oneof(
  { weight: 10, arbitrary: fc.record({ who, says: fc.array(lines, { minLength: 1, maxLength: 3 }) }) },
  fc.record({ who, leaves: fc.constant(true) }),
  fc.record({ strikes: faults }),
  fc.record({ passes: fc.constantFrom(1, 500, 2_000, 6_000) }),
  fc.record({ begins: fc.constant('anew') }),
)

test('a fork is equal after any actions of connections and of the sandbox', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 25 }), async (program) => {
      await withPeers(async (sandbox, open) => {
        const run = (...words: string[]): unknown => sandbox.store.run(...words)
        run('ACL', 'SETUSER', 'bob', 'on', '~*', '&*', '+@all')
        const token = String(run('ACL', 'GENTOKEN', 'bob'))
        run('ACL', 'SETUSER', 'bob', `>${token}`)
        const peers = [await open(), await open(), await open()]
        for (const step of program) {
          if ('says' in step) {
            if (peers[step.who]!.destroyed) peers[step.who] = await open()
            peers[step.who]!.write(`${step.says.join('\r\n')}\r\n`.replaceAll('TOKEN', token))
          } else if ('leaves' in step) peers[step.who]!.destroy()
          else if ('strikes' in step) sandbox.faults.add({ on: 'store.request', times: 1, fault: step.strikes })
          else if ('passes' in step) await sandbox.clock.advance(step.passes)
          else sandbox.reset()
          await arrival()
        }
        await expectSame(sandbox)
      })
    }),
    { numRuns: runs(15, 15, 150) },
  )
})
