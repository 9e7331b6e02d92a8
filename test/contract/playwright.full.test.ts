import { playwright } from './adapters/playwright.js'
import { contractSuite } from './suite.js'

contractSuite(playwright)
