const shells = new Set(['exec', 'execSync'])

/** Nothing is handed to a shell: `exec` and the `shell` option do not exist for us. */
export const noShell = {
  meta: {
    type: 'problem',
    messages: { shell: 'Start programs with an argument list (spawn, execFile), never through a shell.' },
  },
  create(context) {
    return {
      ImportDeclaration(node) {
        if (!/^(node:)?child_process$/.test(node.source.value)) return
        for (const specifier of node.specifiers) {
          if (shells.has(specifier.imported?.name)) context.report({ node: specifier, messageId: 'shell' })
        }
      },
      Property(node) {
        if (node.key.name === 'shell' && node.value.type === 'Literal' && node.value.value === true) {
          context.report({ node, messageId: 'shell' })
        }
      },
    }
  },
}
