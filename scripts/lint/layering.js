import path from 'node:path'
import { layers } from './layers.js'

const source = path.resolve(import.meta.dirname, '../../src')

/** The room a file lives in and, inside `areas`, which area. */
function place(file) {
  const relative = path.relative(source, file)
  if (relative.startsWith('..')) return undefined
  const parts = relative.split(path.sep)
  return { room: parts[0], area: parts[0] === 'areas' ? parts[1] : undefined, rest: parts.slice(2).join('/') }
}

/** Imports go down the layers of `layers.js`; an area is reached through its `index.ts` only. */
export const layering = {
  meta: {
    type: 'problem',
    messages: {
      layer: '{{from}} may not import {{to}}: see scripts/lint/layers.js',
      face: 'Import another area through its index.ts only, not {{file}}',
    },
  },
  create(context) {
    const from = place(context.filename)
    if (from === undefined || context.filename.endsWith('.test.ts')) return {}
    const check = (node) => {
      const specifier = node.source?.value
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return
      const to = place(path.resolve(path.dirname(context.filename), specifier))
      if (to === undefined || from.room === 'main.ts') return
      if (to.room !== from.room && !layers[from.room]?.includes(to.room)) {
        context.report({ node, messageId: 'layer', data: { from: from.room, to: to.room } })
      } else if (
        to.area !== undefined &&
        to.area !== from.area &&
        from.room === 'areas' &&
        to.rest !== 'index.ts'
      ) {
        context.report({ node, messageId: 'face', data: { file: specifier } })
      }
    }
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    }
  },
}
