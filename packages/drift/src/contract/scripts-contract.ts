import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const scriptCases: readonly Case[] = cases(
  'scripts',
  String.raw`
  # replies
  EVAL "return 1" 0
  EVAL "return 'text'" 0
  EVAL "return {1, 'two', {3}, false, 4}" 0
  EVAL "return {1, nil, 3}" 0
  EVAL "return 3.99" 0
  EVAL "return true" 0
  EVAL "return false" 0
  EVAL "return nil" 0
  EVAL "return {ok='FINE'}" 0
  EVAL "return {err='ERR mine'}" 0
  EVAL "return redis.status_reply('GOOD')" 0
  EVAL "return redis.error_reply('ERR mine')" 0
  EVAL "return {KEYS[1], ARGV[1]}" 1 @k a
  EVAL "return #ARGV" 0 a b c
  EVAL "return redis.sha1hex('')" 0
  EVAL "return cjson.encode({1, 'a', {b = true}})" 0
  EVAL "return cjson.decode('[1, 2.5]')[2]" 0
  EVAL "return string.format('%05.1f', 3.14159)" 0
  # commands
  EVAL "return redis.call('SET', KEYS[1], ARGV[1])" 1 @k v
  EVAL "return redis.call('GET', KEYS[1])" 1 @k
  EVAL "return redis.call('GET', KEYS[1])" 1 @missing
  EVAL "redis.call('RPUSH', KEYS[1], 'a', 'b') return redis.call('LRANGE', KEYS[1], 0, -1)" 1 @l
  EVAL "return redis.pcall('INCR', KEYS[1])" 1 @k
  EVAL "return redis.pcall('INCR', KEYS[1])['err']" 1 @k
  EVAL_RO "return redis.call('GET', KEYS[1])" 1 @k
  # errors
  SET @k v
  EVAL "return redis.call('INCR', KEYS[1])" 1 @k
  EVAL "return redis.call('STUNTDOUBLE')" 0
  EVAL "error('boom')" 0
  EVAL "return x.y" 0
  EVAL "return (" 0
  EVAL "return 1" abc
  EVAL "return 1" -1
  EVAL "return 1" 5 @k
  EVAL "return 1"
  EVAL_RO "return redis.call('SET', KEYS[1], 'x')" 1 @k
  EVALSHA ffffffffffffffffffffffffffffffffffffffff 1 @k
  EVALSHA_RO ffffffffffffffffffffffffffffffffffffffff 1 @k
  # by digest
  =sha SCRIPT LOAD "return {KEYS[1], 'sd_drift'}"
  EVALSHA {sha} 1 @k
  EVALSHA_RO {sha} 1 @k
  SCRIPT EXISTS {sha} ffffffffffffffffffffffffffffffffffffffff
  SCRIPT EXISTS
  SCRIPT LOAD "return ("
  SCRIPT LOAD
  SCRIPT STUNTDOUBLE
  # functions
  FUNCTION LOAD "#!lua name={p}lib\nredis.register_function('{p}get', function(keys) return redis.call('GET', keys[1]) end)\nredis.register_function{function_name='{p}ro', callback=function(keys, args) return args[1] end, flags={'no-writes'}}"
  FUNCTION LOAD "#!lua name={p}lib\nredis.register_function('{p}get', function() return 1 end)"
  FUNCTION LOAD REPLACE "#!lua name={p}lib\nredis.register_function('{p}get', function(keys) return redis.call('GET', keys[1]) end)\nredis.register_function{function_name='{p}ro', callback=function(keys, args) return args[1] end, flags={'no-writes'}}"
  SET @k v
  FCALL {p}get 1 @k
  FCALL_RO {p}ro 1 @k arg
  FCALL_RO {p}get 1 @k
  FCALL {p}none 1 @k
  FCALL {p}get abc @k
  ~unordered FUNCTION LIST LIBRARYNAME {p}lib
  FUNCTION LIST LIBRARYNAME {p}none
  ~kind FUNCTION STATS
  FUNCTION DELETE {p}lib
  FUNCTION DELETE {p}lib
  FCALL {p}get 1 @k
  FUNCTION LOAD "return 1"
  FUNCTION LOAD "#!lua name={p}empty\nlocal x = 1"
  FUNCTION LOAD
  ! FUNCTION DELETE {p}lib
  ! FUNCTION DELETE {p}empty
`,
)
