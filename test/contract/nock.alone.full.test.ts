import { afterAll } from 'vitest'
import { nockAdapter, restoreNock } from './adapters/nock.js'
import { contractSuite } from './suite.js'

afterAll(restoreNock)

contractSuite(nockAdapter)
