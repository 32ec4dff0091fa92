// Columns of words: the model reads them as numbers, people read them as words.

// The word columns of a model: name, the inputs made of them, and which word a step has.
function wordColumns(modelJson) {
  const columns = new Map(), numberOf = new Map(modelJson.inputs.map((name, i) => [name, i]));
  for (const code of modelJson.codes ?? []) {
    if (code.gap || !code.words) continue;
    if (!columns.has(code.column)) columns.set(code.column, { name: code.column, codes: [] });
    columns.get(code.column).codes.push({ ...code, index: numberOf.get(code.input) });
  }
  return [...columns.values()].map((column) => {
    const words = [...new Set(column.codes.flatMap((code) => code.words))];
    return { ...column, words, inputs: column.codes.map((code) => code.index) };
  });
}

// The word that the inputs of a step stand for; several where the model does not tell them apart; null: none known.
function wordAt(column, x, at) {
  if (column.codes.every((code) => Number.isNaN(x[at + code.index]))) return 'missing';
  const fits = (word) => column.codes.every((code) => {
    const i = code.words.indexOf(word), value = i >= 0 ? code.values[i] : code.other;
    return value === null ? Number.isNaN(x[at + code.index]) : f32(value) === x[at + code.index];
  });
  const found = column.words.filter(fits);
  if (found.length === 0) return 'other';
  return found.length > 3 ? `${found[0]} or ${found.length - 1} more` : found.join(' or ');
}
