# Comparisons become calls of the relation classes, like the operators do.
name = "sympy/parsing/sympy_parser.py"
text = open(name, encoding="utf-8").read()
line = "    def visit_BinOp(self, node):\n"
good = '''    def visit_Compare(self, node):
        names = {ast.Lt: 'Lt', ast.LtE: 'Le', ast.Gt: 'Gt', ast.GtE: 'Ge', ast.Eq: 'Eq', ast.NotEq: 'Ne'}
        self.generic_visit(node)
        if not all(type(op) in names for op in node.ops):
            return node

        def call(name, args):
            return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=args,
                keywords=[ast.keyword(arg='evaluate', value=ast.Constant(value=False))])
        sides = [node.left] + node.comparators
        links = [call(names[type(op)], sides[i:i + 2]) for i, op in enumerate(node.ops)]
        return links[0] if len(links) == 1 else call('And', links)

'''
if good not in text:
	assert text.count(line) == 1
	open(name, "w", encoding="utf-8").write(text.replace(line, good + line))
