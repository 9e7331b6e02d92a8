import { describe, expect, test } from 'vitest'
import { policyFrom } from '../src/policy-arguments.js'

describe('policies of the command line', () => {
  test.each<[words: string[], policy: object]>([
    [[], {}],
    [['retries=5'], { retries: 5 }],
    [['queuePlan=free', 'roundBackoff=true'], { queuePlan: 'free', roundBackoff: true }],
    [['commands="documented"'], { commands: 'documented' }],
    [['callerIp=::1=x'], { callerIp: '::1=x' }],
    [['queueLimits.maxRetries=5'], { queueLimits: { maxRetries: 5 } }],
    [
      ['queueLimits={"maxRetries":5,"queues":1}', 'queueLimits.queues=2', 'queueLimits.schedules=3'],
      { queueLimits: { maxRetries: 5, queues: 2, schedules: 3 } },
    ],
    [['retries=5', 'retries=6'], { retries: 6 }],
    [['dailyRequestLimit=null'], { dailyRequestLimit: undefined }],
  ])('%j', (words, policy) => {
    expect(policyFrom(words)).toStrictEqual(policy)
  })

  test.each([
    ['__proto__.x=1', /no policy "__proto__"/],
    ['constructor=1', /no policy "constructor"/],
    ['queueLimits.__proto__=1', /queueLimits has no "__proto__"/],
    ['queueLimits.maxRetrys=1', /queueLimits has no "maxRetrys"\. Did you mean "maxRetries"\?/],
    ['queuelimits.maxRetries=1', /no policy "queuelimits"\. Did you mean "queueLimits"\?/],
    ['queueLimits={"maxRetrys":1}', /--policy: .*maxRetrys/],
    ['queueLimits=5', /policy\.queueLimits: options must be an object/],
    ['retries.=5', /retries has no field ""/],
    ['.retries=5', /no policy ""/],
    ['retries=', /policy\.retries must be a number \(got ""\)/],
    ['=5', /--policy must be NAME=VALUE/],
    ['retries=null', /policy\.retries must be a number/],
    ['queuePlan=cheap', /policy\.queuePlan must be/],
  ])('rejects %s', (word, sentence) => {
    expect(() => policyFrom([word])).toThrow(sentence)
  })
})
