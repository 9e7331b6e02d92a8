import { replay } from '../support/transcript.js'
import { steps } from './geo.steps.js'

replay('geo', steps)
