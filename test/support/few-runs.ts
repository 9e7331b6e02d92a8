// `npm run test:fast`: properties that do not say how often are tried a few times only.
import fc from 'fast-check'

fc.configureGlobal({ numRuns: 10 })
