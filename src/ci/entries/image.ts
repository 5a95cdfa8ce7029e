import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { Image, Service } from '../types.ts'
import {
  array,
  attribute,
  collect,
  entry,
  mapOf,
  oneOf,
  oneOrMore,
  readFields,
  string,
  stringOrStrings,
  strings,
  text,
  type Values,
} from './read.ts'
import type { Read, Spot } from './spot.ts'
import { jobVariables } from './variables.ts'

const imageFields = {
  name: attribute(string),
  entrypoint: attribute(strings),
  pull_policy: attribute(oneOrMore(oneOf(['always', 'never', 'if-not-present']))),
  docker: entry(mapOf({ platform: attribute(string), user: attribute(text) })),
  kubernetes: entry(mapOf({ user: attribute(text) })),
  ports: attribute(array),
}
const serviceFields = {
  ...imageFields,
  alias: attribute(string),
  command: attribute(stringOrStrings),
  variables: entry(jobVariables),
}

export const image: Read<Image> = (value, spot) => {
  const fields = named(imageFields, value, spot)
  return fields && imageOf(fields)
}

export const services: Read<Service[]> = (value, spot) =>
  Array.isArray(value)
    ? collect(value, (item) => service(item, spot.child('service')))
    : spot.fail(entryText.array)

const service: Read<Service> = (value, spot) => {
  const fields = named(serviceFields, value, spot)
  if (fields === undefined) return undefined
  const { alias = null, command = null, variables = [] } = fields
  return { ...imageOf(fields), alias, command, variables }
}

/** A name alone stands for a map with that name. */
function named<F extends typeof imageFields>(table: F, value: unknown, spot: Spot): Values<F> | undefined {
  if (typeof value === 'string') return readFields(table, { name: value }, spot, needsName)
  return isMap(value) ? readFields(table, value, spot, needsName) : spot.fail(entryText.hashOrString)
}

function needsName(value: DataMap, spot: Spot): void {
  if (value['name'] === undefined || value['name'] === null || value['name'] === '') {
    spot.key('name').fail(entryText.blank)
  }
}

function imageOf(fields: Values<typeof imageFields>): Image {
  const executorOpts: Image['executorOpts'] = {}
  if (fields.docker) executorOpts.docker = fields.docker
  if (fields.kubernetes) executorOpts.kubernetes = fields.kubernetes
  return {
    name: fields.name ?? '',
    entrypoint: fields.entrypoint ?? null,
    pullPolicy: fields.pullPolicy ?? null,
    executorOpts,
  }
}
