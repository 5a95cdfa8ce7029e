import { common, createLowlight } from 'lowlight'
import type { ElementContent } from 'hast'
import type { RenderSettings } from '../types.ts'
import { replaceElements, type Parent } from '../tree.ts'
import { codeBlock, diagram } from './diagrams.ts'

/** Characters of one block, and of all, that are coloured; longer ones are shown as they are. */
const longestBlock = 200_000
const longestTotal = 1_000_000

let lowlight: ReturnType<typeof createLowlight> | undefined

/** Blocks of code: coloured in languages that are known, images where they describe diagrams. */
export function codeBlocks(root: Parent, settings: RenderSettings): void {
  let total = 0
  replaceElements(root, (node) => {
    const block = codeBlock(node)
    if (block === undefined) return undefined
    const { language, source, code } = block
    const drawn = diagram(language, source, settings)
    if (drawn !== undefined) return [drawn]
    node.properties['className'] = ['code', 'highlight']
    if (language === '') return undefined
    node.properties['lang'] = language
    lowlight ??= createLowlight(common)
    total += source.length
    if (source.length > longestBlock || total > longestTotal || !lowlight.registered(language))
      return undefined
    code.children = lowlight.highlight(language, source).children as ElementContent[]
    return undefined
  })
}
