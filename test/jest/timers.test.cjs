const { createSandbox, fakeTimers } = require('stuntdouble')

const doNotFake = ['nextTick', 'queueMicrotask', 'setImmediate']

afterEach(() => {
  jest.useRealTimers()
})

test("Jest's modern fake timers follow the sandbox's clock", async () => {
  const sandbox = createSandbox()
  jest.useFakeTimers({ now: sandbox.clock.now(), doNotFake })
  sandbox.clock.follow(fakeTimers(jest))
  let fired = 0
  setTimeout(() => fired++, 2000)
  await sandbox.clock.advance('1999ms')
  expect(fired).toBe(0)
  await sandbox.clock.advance(1)
  expect(fired).toBe(1)
  expect(Date.now()).toBe(sandbox.clock.now())
  sandbox.dispose()
})

test('follows with all timers faked, as Jest does by default', async () => {
  const sandbox = createSandbox()
  jest.useFakeTimers({ now: sandbox.clock.now() })
  sandbox.clock.follow(fakeTimers(jest))
  let fired = 0
  setTimeout(() => fired++, 2000)
  await sandbox.clock.advance('1h')
  expect(fired).toBe(1)
  sandbox.dispose()
})

test('throws an error with the call to make without fake timers', async () => {
  const sandbox = createSandbox()
  sandbox.clock.follow(fakeTimers(jest))
  await expect(sandbox.clock.advance('1s')).rejects.toThrow('no fake timers are installed')
  sandbox.dispose()
})
