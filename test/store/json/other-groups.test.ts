import { describe, expect, it } from 'vitest'
import { createStore, reply, stories, words } from './steps.js'

describe('documents in commands of other groups', () => {
  stories({
    'do not share values between copies': [
      ['JSON.SET k $ {"a":[1]}', 'OK'],
      ['COPY k copy', 1],
      ['JSON.ARRAPPEND copy $.a 2', [2]],
      ['JSON.GET k', '{"a":[1]}'],
      ['JSON.GET copy', '{"a":[1,2]}'],
      ['RENAME copy moved', 'OK'],
      ['TYPE moved', 'json'],
    ],
  })

  it('survive DUMP and RESTORE', () => {
    const store = createStore()
    reply(store, words('JSON.SET k $ {"2":1.0,"1":[9007199254740993,null,"é"]}'))
    const payload = store.run('DUMP', 'k')
    store.execute([...words('RESTORE other 0'), payload] as never)
    expect(reply(store, words('JSON.GET other'))).toBe('{"2":1.0,"1":[9007199254740993,null,"é"]}')
  })
})
