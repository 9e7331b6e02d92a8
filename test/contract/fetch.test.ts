import { replacedFetch } from './adapters/fetch.js'
import { contractSuite } from './suite.js'

contractSuite(replacedFetch)
