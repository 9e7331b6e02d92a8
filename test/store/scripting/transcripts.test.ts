import { replay } from '../../support/transcript.js'
import { steps as errors } from '../lua-errors.steps.js'
import { steps as functions } from '../lua-functions.steps.js'
import { steps as language } from '../lua-language.steps.js'
import { steps as libraries } from '../lua-libraries.steps.js'
import { steps as redis } from '../lua-redis.steps.js'
import { steps as vendor } from '../lua-vendor.steps.js'

replay('lua-language', language)
replay('lua-errors', errors)
replay('lua-libraries', libraries)
replay('lua-redis', redis)
replay('lua-functions', functions)
replay('lua-vendor', vendor)
