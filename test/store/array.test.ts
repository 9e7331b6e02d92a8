import { replay } from '../support/transcript.js'
import { examples } from './array.steps.js'

replay('array', examples)
