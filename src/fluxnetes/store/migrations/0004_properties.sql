-- What the graph's vertices are called (properties), apart from the document: every new kind of
-- wish that a pod has of its node adds one. By name and value the rows that have it:
-- {"rule-210e130878aa": {"": [2, 8]}}. NULL: as in the document.
ALTER TABLE system ADD COLUMN properties json;
