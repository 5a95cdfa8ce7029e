// @module-tag long
import { readGrid } from './grid/rows.ts'
import { playRows } from './grid/suite.ts'

const own = readGrid('permission-grid-own.csv')

playRows(own.slice(0, Math.ceil(own.length / 2)))
